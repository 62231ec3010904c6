"""Compiled loops of the audit: words, runs and index look-ups straight from UTF-8 buffers.

Nothing here makes a Python string. The rules are those of `core.text.words` and
`hashing.latex_words`, which the tests hold these loops against. Import this module inside
functions only: it brings numba. Compiled code is cached on disk, in numba's user-wide folder where
the package itself cannot be written. What calls one another stands in this one file, since numba
renews a function's cached code only when its own file changes.
"""

# numba infers the types of these functions from their first call; annotations would not be read.
# ruff: noqa: ANN001, ANN201, ANN202
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import sys

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from dataflex_data.audits import hashing
from dataflex_data.audits.folding import SEPARATOR, UNKNOWN, UNSAFE
from dataflex_data.audits.lean_numba import njit

# Why a loop stopped, and what became of a text.
DONE, LEARN, FULL = 0, 1, 2
_OK, _SLOW, _NEW_CODE = 0, 1, 2

COMMAND_BUFFER = 4096

_U = np.uint64
_ONE, _ZERO = _U(1), _U(0)
_OFFSET, _PRIME = _U(hashing.WORD_SEED), _U(hashing.WORD_FACTOR)
_MIX_1, _MIX_2 = _U(hashing.MIX_1), _U(hashing.MIX_2)
_BASE, _SPREAD = _U(hashing.BASE), _U(hashing.SPREAD)
_32, _30, _27, _31, _8, _6, _63 = _U(32), _U(30), _U(27), _U(31), _U(8), _U(6), _U(63)
_2, _3, _64 = _U(2), _U(3), _U(64)
# One byte of each eight: a flag, all below it, and what lifts a byte's range to the flag.
_FLAGS, _BELOW = _U(0x8080808080808080), _U(0x7F7F7F7F7F7F7F7F)
_CASE, _BACKSLASHES = _U(0x2020202020202020), _U(0x5C5C5C5C5C5C5C5C)
_FROM_0, _FROM_COLON = _U(0x5050505050505050), _U(0x4646464646464646)  # 0x80 - "0", 0x80 - ":"
_FROM_A, _FROM_BRACE = _U(0x1F1F1F1F1F1F1F1F), _U(0x0505050505050505)  # 0x80 - "a", 0x80 - "{"
_BACKSLASH, _A, _Z = 92, 97, 122


@intrinsic
def _eight_bytes(_, data, at):
    """Return ``data[at : at + 8]`` as a number, the first byte the highest; nothing is checked."""

    def code(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        address = builder.gep(array.data, [arguments[1]])
        address = builder.bitcast(address, ir.IntType(64).as_pointer())
        loaded = builder.load(address, align=1)
        return builder.bswap(loaded) if sys.byteorder == "little" else loaded

    return types.uint64(data, at), code


@intrinsic
def _leading_zeros(_, value):
    """Return how many of a 64-bit number's highest bits are zero; 64 of zero."""

    def code(context, builder, signature, arguments):
        del context, signature
        return builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(value), code


@njit(cache=True, nogil=True, inline="always")
def _mix(value):
    value = (value ^ (value >> _30)) * _MIX_1
    value = (value ^ (value >> _27)) * _MIX_2
    return value ^ (value >> _31)


@njit(cache=True, nogil=True, inline="always")
def _block(value, block):
    value = (value ^ block) * _PRIME
    return value ^ (value >> _32)


@njit(cache=True, nogil=True, inline="always")
def _stops_and_lower(eight):
    """Return flags of the bytes that are no ASCII letter or digit, and all in lower case."""
    below = eight & _BELOW
    lowered = below | _CASE
    letters = (lowered + _FROM_A) & ~(lowered + _FROM_BRACE)
    digits = (below + _FROM_0) & ~(below + _FROM_COLON)
    letters &= _FLAGS & ~eight
    return _FLAGS & ~(letters | (digits & ~eight)), below | (letters >> _2)


@njit(cache=True, nogil=True, inline="always")
def _all_plain(eight):
    """Return whether no byte is a backslash or beyond ASCII."""
    other = (eight & _BELOW) ^ _BACKSLASHES
    return ((other + _BELOW) & ~eight & _FLAGS) == _FLAGS


@njit(cache=True, nogil=True)
def _bytes_hash(buffer, begin, end):
    """Return the word hash of folded bytes."""
    value, block, length = _OFFSET, _ZERO, 0
    for at in range(begin, end):
        block = (block << _8) | _U(buffer[at])
        length += 1
        if length & 7 == 0:
            value = _block(value, block)
            block = _ZERO
    if length & 7:
        value = _block(value, block)
    return _mix(value)


@njit(cache=True, nogil=True)
def _command(buffer, length, whole, commands, latex, n_latex):
    """Append the canonical words of one word that follows a backslash; -1: more than fits."""
    cut = 0
    while cut < length and _A <= buffer[cut] <= _Z:
        cut += 1
    if n_latex + 4 > latex.size:
        return -1, False
    if cut == 0:
        latex[n_latex] = whole
        return n_latex + 1, False
    name = whole if cut == length else _bytes_hash(buffer, 0, cut)
    keys, spelled, arguments = commands
    size_mask = _U(keys.size - 1)
    slot = name & size_mask
    found, arity = name, 0
    while keys[slot] != _ZERO:
        if keys[slot] == name:
            found, arity = spelled[slot], arguments[slot]
            break
        slot = (slot + _ONE) & size_mask
    if found != _ZERO:
        latex[n_latex] = found
        n_latex += 1
    differs = found != name or cut < length
    while arity > 0 and cut < length:
        begin = cut
        cut += 1
        while cut < length and (buffer[cut] & 0xC0) == 0x80:
            cut += 1
        latex[n_latex] = _bytes_hash(buffer, begin, cut)
        n_latex += 1
        arity -= 1
    if cut < length:
        latex[n_latex] = _bytes_hash(buffer, cut, length)
        n_latex += 1
    return n_latex, differs


@njit(cache=True, nogil=True)
def _code_point(data, i, end):
    """Return (code point, bytes); (-1, 1) where the bytes are not UTF-8."""
    b = np.int64(data[i])
    if 0xC2 <= b <= 0xDF:
        need, code, least = 1, b & 0x1F, 0x80
    elif 0xE0 <= b <= 0xEF:
        need, code, least = 2, b & 0x0F, 0x800
    elif 0xF0 <= b <= 0xF4:
        need, code, least = 3, b & 0x07, 0x10000
    else:
        return -1, 1
    if i + need >= end:
        return -1, 1
    for k in range(1, need + 1):
        c = np.int64(data[i + k])
        if c & 0xC0 != 0x80:
            return -1, 1
        code = (code << 6) | (c & 0x3F)
    if code < least or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        return -1, 1
    return code, need + 1


@njit(cache=True, nogil=True)
def _tokenise(data, start, end, folding, commands, buffer, plain, latex):
    """Fill word hashes; return (status, plain words, latex words, do they differ, code point)."""
    ascii_fold, index, folded = folding
    n_plain, n_latex, differs, seen_backslash = 0, 0, False, False
    value, block, length, escaped, backslash = _OFFSET, _ZERO, 0, False, False
    # Unsigned: numba checks signed indices for being negative.
    i, end, size = _U(start), _U(end), _U(data.size)
    while True:
        # One unit per turn: `f` is a folded byte, 0 between words.
        expand_at, expand_end = 0, 0
        f = np.uint8(0)
        b = np.uint8(0)
        if i < end:
            b = data[i]
            if b < 128:
                f = ascii_fold[b]
                i += _ONE
                if f != 0 and length == 0 and not backslash:
                    # Nearly all words are plain ASCII: eight bytes at a time, from end to end.
                    i -= _ONE
                    block = _ZERO
                    gap = _ONE  # bytes to the next word, as far as they are known
                    while i + _8 <= size:
                        eight = _eight_bytes(data, i)
                        stops, lower = _stops_and_lower(eight)
                        taken = _leading_zeros(stops) >> _3
                        if taken > end - i:
                            taken = end - i
                        length += np.int64(taken)
                        i += taken
                        if taken < _8:
                            if taken > _ZERO:
                                block = lower >> (_64 - (taken << _3))
                            if _all_plain(eight):
                                gap = _leading_zeros(_FLAGS & ~(stops << (taken << _3))) >> _3
                            break
                        value = _block(value, lower)
                    else:
                        while i < end:  # the last seven bytes of all texts
                            b = data[i]
                            if b >= 128 or ascii_fold[b] == 0:
                                break
                            block = (block << _8) | _U(ascii_fold[b])
                            length += 1
                            i += _ONE
                            if length & 7 == 0:
                                value = _block(value, block)
                                block = _ZERO
                    if i < end:
                        b = data[i]
                        if b >= 128:
                            escaped = False
                            continue  # the word goes on beyond ASCII
                        f = np.uint8(0)
                        i = min(i + gap, end)
                    if n_plain == plain.size or n_latex == latex.size:
                        return _SLOW, 0, 0, False, 0
                    if length & 7:
                        value = _block(value, block)
                        block = _ZERO
                    word = _mix(value)
                    plain[n_plain] = word
                    n_plain += 1
                    if seen_backslash:
                        latex[n_latex] = word
                        n_latex += 1
                    value = _OFFSET
                    length = 0
                    backslash = f == 0 and b == _BACKSLASH
                    if backslash and not seen_backslash:
                        seen_backslash = True
                        latex[:n_plain] = plain[:n_plain]
                        n_latex = n_plain
                    if i < end:
                        continue
                    return _OK, n_plain, n_latex, differs, 0
                if f == 0 and length == 0 and b != _BACKSLASH:
                    backslash = False
                    if i < end:
                        continue
                    return _OK, n_plain, n_latex, differs, 0
            else:
                code, used = _code_point(data, np.int64(i), np.int64(end))
                if code < 0:
                    return _SLOW, 0, 0, False, 0
                at = index[code]
                if at == UNKNOWN:
                    return _NEW_CODE, 0, 0, False, code
                if at == UNSAFE:
                    return _SLOW, 0, 0, False, 0
                i += _U(used)
                b = np.uint8(0)
                if at != SEPARATOR:
                    expand_at, expand_end = at + 1, at + 1 + folded[at]
        while True:
            if expand_at < expand_end:
                f = folded[expand_at]
                expand_at += 1
            if f != 0:
                if length == 0:
                    escaped = backslash
                if escaped:
                    if length == COMMAND_BUFFER:
                        return _SLOW, 0, 0, False, 0
                    buffer[length] = f
                block = (block << _8) | _U(f)
                length += 1
                if length & 7 == 0:
                    value = _block(value, block)
                    block = _ZERO
            else:
                if length:
                    if n_plain == plain.size:
                        return _SLOW, 0, 0, False, 0
                    if length & 7:
                        value = _block(value, block)
                        block = _ZERO
                    word = _mix(value)
                    plain[n_plain] = word
                    n_plain += 1
                    if seen_backslash:
                        if escaped:
                            n_latex, changed = _command(
                                buffer, length, word, commands, latex, n_latex
                            )
                            if n_latex < 0:
                                return _SLOW, 0, 0, False, 0
                            differs = differs or changed
                        else:
                            if n_latex == latex.size:
                                return _SLOW, 0, 0, False, 0
                            latex[n_latex] = word
                            n_latex += 1
                    value = _OFFSET
                    length = 0
                backslash = b == _BACKSLASH
                if backslash and not seen_backslash:
                    seen_backslash = True
                    if n_plain > latex.size:
                        return _SLOW, 0, 0, False, 0
                    latex[:n_plain] = plain[:n_plain]
                    n_latex = n_plain
            if expand_at >= expand_end:
                break
        if i >= end and length == 0:
            return _OK, n_plain, n_latex, differs, 0


@njit(cache=True, nogil=True)
def hash_texts(data, offsets, first, folding, commands, scratch, out, starts, rows, slow, n_slow):
    """Fill ``out`` with the word hashes of texts from ``first`` on: a stream each, or two.

    Stream ``s`` is ``out[starts[s]:starts[s + 1]]`` and belongs to text ``rows[s]``: first its
    plain words, then its LaTeX form where that differs. Texts that Python must handle, and those
    with bytes but no word, are listed in ``slow``.

    Returns (why it stopped, next text, code, streams, slow texts, plain words). `LEARN`: the fold
    table lacks ``code``. `FULL`: ``out`` must be emptied first; it holds any one text, twice as
    many words as the scratch memory for a LaTeX form.
    """
    buffer, latex = scratch
    used, streams, total = 0, 0, 0
    starts[0] = 0
    for row in range(first, offsets.size - 1):
        start, end = offsets[row], offsets[row + 1]
        if start == end:
            continue
        if used + latex.size > out.size:
            return FULL, row, 0, streams, n_slow, total
        status, n_plain, n_latex, differs, code = _tokenise(
            data, start, end, folding, commands, buffer, out[used : used + latex.size], latex
        )
        if status == _NEW_CODE:
            return LEARN, row, code, streams, n_slow, total
        if status == _SLOW or n_plain == 0:
            slow[n_slow] = row
            n_slow += 1
            continue
        if differs and used + n_plain + n_latex > out.size:
            return FULL, row, 0, streams, n_slow, total
        used += n_plain
        total += n_plain
        rows[streams] = row
        streams += 1
        starts[streams] = used
        if differs:
            for k in range(n_latex):
                out[used + k] = latex[k]
            used += n_latex
            rows[streams] = row
            streams += 1
            starts[streams] = used
    return DONE, offsets.size - 1, 0, streams, n_slow, total


@njit(cache=True, nogil=True)
def hash_folded(data, out):
    """Fill the hashes of words that are folded already and parted by single spaces."""
    count, begin = 0, 0
    for i in range(data.size + 1):
        if i == data.size or data[i] == 32:
            if i > begin:
                out[count] = _bytes_hash(data, begin, i)
                count += 1
            begin = i + 1
    return count


@njit(cache=True, nogil=True, inline="always")
def _two_bits(key):
    return (_ONE << (key & _63)) | (_ONE << ((key >> _6) & _63))


@njit(cache=True, nogil=True, inline="always")
def _may_hold(key, bits, shift_bits):
    """Return whether a filter may hold ``key``; never false for one that it holds."""
    wanted = _two_bits(key)
    return bits[key >> shift_bits] & wanted == wanted


@njit(cache=True, nogil=True, inline="always")
def _find(key, keys, bits, shift_bits, shift_keys):
    """Return the slot of ``key``, or -1. A filter that fits the cache answers most misses."""
    if not _may_hold(key, bits, shift_bits):
        return -1
    slot = np.int64(key >> shift_keys)
    while keys[slot] != _ZERO:
        if keys[slot] == key:
            return slot
        slot += 1
        if slot == keys.size:
            slot = 0
    return -1


@njit(cache=True, nogil=True, inline="always")
def _key(value):
    value = value * _SPREAD
    if value == _ZERO:  # 0 marks a free slot
        value = _ONE
    return value


@njit(cache=True, nogil=True, inline="always")
def _sum_up(stream, count, sums):
    """Fill the prefix sums of a row's polynomial: any run's hash follows from two of them."""
    running = _ZERO
    sums[0] = running
    for k in range(count):
        running = running * _BASE + stream[k]
        sums[k + 1] = running


@njit(cache=True, nogil=True)
def _count_gram(gram, postings, stamps, counts, touched, mark, n_touched):
    """Count one n-gram of the stream for every document that holds it."""
    post_start, post_doc, is_boilerplate = postings
    stamp_gram, stamp_doc = stamps
    own, boiler = counts
    if stamp_gram[gram] == mark:
        return n_touched
    stamp_gram[gram] = mark
    common = is_boilerplate[gram]
    for p in range(post_start[gram], post_start[gram + 1]):
        doc = post_doc[p]
        if stamp_doc[doc] != mark:
            stamp_doc[doc] = mark
            own[doc] = 0
            boiler[doc] = 0
            touched[n_touched] = doc
            n_touched += 1
        if common:
            boiler[doc] += 1
        else:
            own[doc] += 1
    return n_touched


@njit(cache=True, nogil=True)
def match(hashes, starts, rows, first, last, index, state, sums, out_row, out_doc, n_out):
    """Append (row, doc) for every document that a stream may contain.

    A stream is ``hashes[starts[s]:starts[s + 1]]``, the words of row ``rows[s]`` in one form.
    Returns (next stream, ``n_out``); where that is not ``last``, the output was full.
    """
    # One function over all streams: to hand these arrays on costs more than to match a short row.
    grams, pieces, postings, anchors, runs, wholes, needs = index
    keys, gram_of, bits, shift_bits, shift_keys = grams
    piece_bits, piece_shift, n, n_power, piece, piece_power = pieces
    a_keys, a_first, a_bits, a_shift_bits, a_shift_keys = anchors
    a_start, a_doc, a_offset, a_length, a_power, a_hash = runs
    w_keys, w_first, w_bits, w_shift_bits, w_shift_keys, w_start, w_doc = wholes
    need_own, need_all, own_grams = needs
    stamps, counts, touched, best, marks = state
    stamp_doc = stamps[1]
    own, boiler = counts
    mark = marks[0]
    beyond = n - piece
    room = out_row.size
    for stream in range(first, last):
        row, begin = rows[stream], starts[stream]
        count = starts[stream + 1] - begin
        before = n_out
        mark += 1
        n_touched = 0
        running = _ZERO
        sums[0] = running
        anchored = False
        for k in range(count):
            word = hashes[begin + k]
            running = running * _BASE + word
            sums[k + 1] = running
            anchored |= _may_hold(word, a_bits, a_shift_bits)
        for at in range(count if anchored else 0):
            slot = _find(hashes[begin + at], a_keys, a_bits, a_shift_bits, a_shift_keys)
            if slot < 0:
                continue
            group = a_first[slot]
            for entry in range(a_start[group], a_start[group + 1]):
                left = at - a_offset[entry]
                right = left + a_length[entry]
                if left < 0 or right > count:
                    continue
                if sums[right] - sums[left] * a_power[entry] != a_hash[entry]:
                    continue
                doc = a_doc[entry]
                if stamp_doc[doc] != mark:
                    stamp_doc[doc] = mark
                    best[doc] = max(best[doc], 1)
                    if n_out < room:
                        out_row[n_out] = row
                        out_doc[n_out] = doc
                    n_out += 1
        # Every n-gram holds exactly one of the pieces that begin at a multiple of this stride, so
        # that a piece which no benchmark has spares the look-ups of all n-grams around it.
        final = count - n
        for at in range(0, count - piece + 1 if final >= 0 else 0, beyond + 1):
            key = _key(sums[at + piece] - sums[at] * piece_power)
            if not _may_hold(key, piece_bits, piece_shift):
                continue
            for i in range(max(0, at - beyond), min(at, final) + 1):
                key = _key(sums[i + n] - sums[i] * n_power)
                slot = _find(key, keys, bits, shift_bits, shift_keys)
                if slot >= 0:
                    n_touched = _count_gram(
                        gram_of[slot], postings, stamps, counts, touched, mark, n_touched
                    )
        for t in range(n_touched):
            doc = touched[t]
            best[doc] = max(best[doc], own[doc])
            if own[doc] >= need_own[doc] or own[doc] + boiler[doc] >= need_all[doc]:
                if n_out < room:
                    out_row[n_out] = row
                    out_doc[n_out] = doc
                n_out += 1
        key = _key(_mix(running ^ _U(count)))
        slot = _find(key, w_keys, w_bits, w_shift_bits, w_shift_keys) if count else -1
        if slot >= 0:
            group = w_first[slot]
            for entry in range(w_start[group], w_start[group + 1]):
                doc = w_doc[entry]
                if own_grams[doc] == 0:
                    best[doc] = max(best[doc], 1)
                if n_out < room:
                    out_row[n_out] = row
                    out_doc[n_out] = doc
                n_out += 1
        if n_out > room:
            marks[0] = mark
            return stream, before
    marks[0] = mark
    return last, n_out


@njit(cache=True)
def insert_keys(hashes, keys, values, bits, shift_bits, shift_keys, mixed):
    """Insert distinct hashes, each with its position, into a table and its filter."""
    for position in range(hashes.size):
        key = hashes[position] if mixed else _key(hashes[position])
        bits[key >> shift_bits] |= _two_bits(key)
        slot = np.int64(key >> shift_keys)
        while keys[slot] != _ZERO:
            slot += 1
            if slot == keys.size:
                slot = 0
        keys[slot] = key
        values[slot] = position


@njit(cache=True)
def insert_pieces(stream, starts, grams, pieces):
    """Insert every piece of those n-grams of some texts that stand in the table of n-grams."""
    keys, _, bits, shift_bits, shift_keys = grams
    piece_bits, piece_shift, n, n_power, piece, piece_power = pieces
    sums = np.empty(np.max(starts[1:] - starts[:-1]) + 1, dtype=np.uint64)
    for text in range(starts.size - 1):
        begin, count = starts[text], starts[text + 1] - starts[text]
        _sum_up(stream[begin : begin + count], count, sums)
        done = 0
        for i in range(count - n + 1):
            gram = _key(sums[i + n] - sums[i] * n_power)
            if _find(gram, keys, bits, shift_bits, shift_keys) >= 0:
                for at in range(max(i, done), i + n - piece + 1):
                    key = _key(sums[at + piece] - sums[at] * piece_power)
                    piece_bits[key >> piece_shift] |= _two_bits(key)
                done = i + n - piece + 1


@njit(cache=True)
def run_hashes(stream, starts, n, power, out, owner, wholes):
    """Fill the hashes of all n-word runs with their texts, and each text's whole hash."""
    used = 0
    sums = np.empty(np.max(starts[1:] - starts[:-1]) + 1, dtype=np.uint64)
    for text in range(starts.size - 1):
        begin, count = starts[text], starts[text + 1] - starts[text]
        _sum_up(stream[begin : begin + count], count, sums)
        wholes[text] = _mix(sums[count] ^ _U(count))
        for i in range(count - n + 1):
            out[used] = sums[i + n] - sums[i] * power
            owner[used] = text
            used += 1
    return used
