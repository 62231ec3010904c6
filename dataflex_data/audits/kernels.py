"""Compiled loops of the audit: words, runs and index look-ups straight from UTF-8 buffers.

Nothing here makes a Python string. The rules are those of `core.text.words` and
`hashing.latex_words`, which the tests hold these loops against. Import this module inside
functions only: it brings numba. Compiled code is cached on disk, in numba's user-wide folder where
the package itself cannot be written.
"""

# numba infers the types of these functions from their first call; annotations would not be read.
# ruff: noqa: ANN001, ANN201, ANN202
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import numpy as np
from numba import njit

from dataflex_data.audits import hashing
from dataflex_data.audits.folding import SEPARATOR, UNKNOWN, UNSAFE

# Why a row stopped the loop or left it.
DONE, LEARN, FULL = 0, 1, 2
_OK, _SLOW, _NEW_CODE = 0, 1, 2

COMMAND_BUFFER = 4096

_U = np.uint64
_ONE, _ZERO = _U(1), _U(0)
_OFFSET, _PRIME = _U(hashing.WORD_SEED), _U(hashing.WORD_FACTOR)
_MIX_1, _MIX_2 = _U(hashing.MIX_1), _U(hashing.MIX_2)
_BASE, _SPREAD = _U(hashing.BASE), _U(hashing.SPREAD)
_32, _30, _27, _31, _8, _6, _63 = _U(32), _U(30), _U(27), _U(31), _U(8), _U(6), _U(63)
_BACKSLASH, _A, _Z = 92, 97, 122


@njit(cache=True, nogil=True, inline="always")
def _mix(value):
    value = (value ^ (value >> _30)) * _MIX_1
    value = (value ^ (value >> _27)) * _MIX_2
    return value ^ (value >> _31)


@njit(cache=True, nogil=True, inline="always")
def _block(value, block):
    value = (value ^ block) * _PRIME
    return value ^ (value >> _32)


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
    name = _bytes_hash(buffer, 0, cut)
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
    i, end = _U(start), _U(end)  # unsigned: numba checks signed indices for being negative
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
                    # Nearly all words are plain ASCII: a loop of their own, from end to end.
                    block = _U(f)
                    length = 1
                    while i < end:
                        b = data[i]
                        if b >= 128:
                            break
                        f = ascii_fold[b]
                        i += _ONE
                        if f == 0:
                            break
                        block = (block << _8) | _U(f)
                        length += 1
                        if length & 7 == 0:
                            value = _block(value, block)
                            block = _ZERO
                    if f != 0 and i < end:
                        escaped = False
                        continue  # the word goes on beyond ASCII
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
def _tokenise_folded(data, start, end, out):
    """Fill the hashes of words that are folded already and separated by single spaces."""
    count = 0
    begin = start
    for i in range(start, end + 1):
        if i == end or data[i] == 32:
            if i > begin:
                out[count] = _bytes_hash(data, begin, i)
                count += 1
            begin = i + 1
    return count


@njit(cache=True, nogil=True, inline="always")
def _find(key, keys, bits, shift_bits, shift_keys):
    """Return the slot of ``key``, or -1. A filter that fits the cache answers most misses."""
    wanted = (_ONE << (key & _63)) | (_ONE << ((key >> _6) & _63))
    if bits[key >> shift_bits] & wanted != wanted:
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


@njit(cache=True, nogil=True)
def _count_gram(gram, postings, state, n_touched):
    """Count one n-gram of the row for every document that holds it."""
    post_start, post_doc, is_boilerplate = postings
    stamp_gram, stamp_doc, own, boiler, touched, _, _, marks = state
    mark = marks[0]
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
def _emit(row, doc, out_row, out_doc, n_out):
    """Append a pair; return the new count, -1 where there is no room (or was none before)."""
    if n_out < 0 or n_out == out_row.size:
        return -1
    out_row[n_out] = row
    out_doc[n_out] = doc
    return n_out + 1


@njit(cache=True, nogil=True)
def _note_best(doc, count, row, best, best_row):
    """Keep the row that shares most with a document, of several the first; in any order of rows."""
    if count > best[doc] or (count == best[doc] and row < best_row[doc]):
        best[doc] = count
        best_row[doc] = row


@njit(cache=True, nogil=True)
def _check_runs(group, at, count, row, sums, runs, state, out_row, out_doc, n_out):
    """Emit the short documents with this rare word that stand in the row, word by word."""
    a_start, a_doc, a_offset, a_length, a_power, a_hash = runs
    stamp_doc, best, best_row, mark = state[1], state[5], state[6], state[7][0]
    for entry in range(a_start[group], a_start[group + 1]):
        left = at - a_offset[entry]
        right = left + a_length[entry]
        if left < 0 or right > count:
            continue
        if sums[right] - sums[left] * a_power[entry] != a_hash[entry]:
            continue
        doc = a_doc[entry]
        if stamp_doc[doc] == mark:
            continue
        stamp_doc[doc] = mark
        _note_best(doc, 1, row, best, best_row)
        n_out = _emit(row, doc, out_row, out_doc, n_out)
    return n_out


@njit(cache=True, nogil=True)
def _match(stream, count, row, sums, index, state, out_row, out_doc, n_out):
    """Append (row, doc) for every document this stream may contain; return the new ``n_out``.

    -1: the output is full; the row must be scanned again.
    """
    grams, postings, anchors, runs, wholes, needs, sizes = index
    keys, gram_of, bits, shift_bits, shift_keys = grams
    a_keys, a_first, a_bits, a_shift_bits, a_shift_keys = anchors
    w_keys, w_first, w_bits, w_shift_bits, w_shift_keys, w_start, w_doc = wholes
    need_own, need_all, own_grams = needs
    n, n_power = sizes
    own, boiler, touched, best, best_row, marks = (
        state[2],
        state[3],
        state[4],
        state[5],
        state[6],
        state[7],
    )
    marks[0] += 1
    n_touched = 0
    has_anchors = runs[1].size > 0
    running = _ZERO
    sums[0] = running
    for k in range(count):
        running = running * _BASE + stream[k]
        sums[k + 1] = running
        if k + 1 >= n:
            slot = _find(
                _key(running - sums[k + 1 - n] * n_power), keys, bits, shift_bits, shift_keys
            )
            if slot >= 0:
                n_touched = _count_gram(gram_of[slot], postings, state, n_touched)
    if has_anchors:
        for i in range(count):
            slot = _find(stream[i], a_keys, a_bits, a_shift_bits, a_shift_keys)
            if slot >= 0:
                n_out = _check_runs(
                    a_first[slot], i, count, row, sums, runs, state, out_row, out_doc, n_out
                )
    for t in range(n_touched):
        doc = touched[t]
        if own[doc]:
            _note_best(doc, own[doc], row, best, best_row)
        if own[doc] >= need_own[doc] or own[doc] + boiler[doc] >= need_all[doc]:
            n_out = _emit(row, doc, out_row, out_doc, n_out)
    if count:
        slot = _find(_key(_mix(running ^ _U(count))), w_keys, w_bits, w_shift_bits, w_shift_keys)
        if slot >= 0:
            group = w_first[slot]
            for entry in range(w_start[group], w_start[group + 1]):
                doc = w_doc[entry]
                if own_grams[doc] == 0:
                    _note_best(doc, 1, row, best, best_row)
                n_out = _emit(row, doc, out_row, out_doc, n_out)
    return n_out


@njit(cache=True, nogil=True)
def scan(
    data,
    offsets,
    first,
    last,
    folding,
    commands,
    index,
    state,
    scratch,
    out_row,
    out_doc,
    n_out,
    slow,
    n_slow,
):
    """Scan rows ``[first, last)``; return (why it stopped, next row, code, n_out, n_slow, words).

    `LEARN`: the fold table lacks ``code``. `FULL`: the output needs room. Rows that Python must
    handle, and rows with bytes but no word, are listed in ``slow``.
    """
    buffer, plain, latex, sums = scratch
    total = 0
    for row in range(first, last):
        start, end = offsets[row], offsets[row + 1]
        if start == end:
            continue
        status, n_plain, n_latex, differs, code = _tokenise(
            data, start, end, folding, commands, buffer, plain, latex
        )
        if status == _NEW_CODE:
            return LEARN, row, code, n_out, n_slow, total
        if status == _SLOW or n_plain == 0:
            slow[n_slow] = row
            n_slow += 1
            continue
        before = n_out
        n_out = _match(plain, n_plain, row, sums, index, state, out_row, out_doc, n_out)
        if n_out >= 0 and differs:
            n_out = _match(latex, n_latex, row, sums, index, state, out_row, out_doc, n_out)
        if n_out < 0:
            return FULL, row, 0, before, n_slow, total
        total += n_plain
    return DONE, last, 0, n_out, n_slow, total


@njit(cache=True, nogil=True)
def scan_folded(plain_data, latex_data, row, index, state, out_row, out_doc, n_out):
    """Scan one row given as its folded words; return ``n_out``, -1 where the output is full."""
    words = np.empty(max(plain_data.size, latex_data.size) // 2 + 1, dtype=np.uint64)
    sums = np.empty(words.size + 1, dtype=np.uint64)
    count = _tokenise_folded(plain_data, 0, plain_data.size, words)
    n_out = _match(words, count, row, sums, index, state, out_row, out_doc, n_out)
    if n_out < 0:
        return n_out
    count = _tokenise_folded(latex_data, 0, latex_data.size, words)
    return _match(words, count, row, sums, index, state, out_row, out_doc, n_out)


@njit(cache=True)
def insert_keys(hashes, keys, values, bits, shift_bits, shift_keys, mixed):
    """Insert distinct hashes, each with its position, into a table and its filter."""
    for position in range(hashes.size):
        key = hashes[position] if mixed else _key(hashes[position])
        bits[key >> shift_bits] |= (_ONE << (key & _63)) | (_ONE << ((key >> _6) & _63))
        slot = np.int64(key >> shift_keys)
        while keys[slot] != _ZERO:
            slot += 1
            if slot == keys.size:
                slot = 0
        keys[slot] = key
        values[slot] = position


@njit(cache=True)
def hash_texts(data, offsets, first, folding, commands, scratch, out, lengths, slow):
    """Fill ``out`` with word hashes, each text's plain and then its latex ones, from ``first`` on.

    ``lengths[row]`` gets both counts, the second 0 where the LaTeX form is the same. Returns
    (why it stopped, next row, code, hashes written).
    """
    buffer, plain, latex, _ = scratch
    used = 0
    for row in range(first, offsets.size - 1):
        status, n_plain, n_latex, differs, code = _tokenise(
            data, offsets[row], offsets[row + 1], folding, commands, buffer, plain, latex
        )
        if status == _NEW_CODE:
            return LEARN, row, code, used
        slow[row] = status == _SLOW
        if status == _SLOW:
            continue
        if not differs:
            n_latex = 0
        out[used : used + n_plain] = plain[:n_plain]
        used += n_plain
        out[used : used + n_latex] = latex[:n_latex]
        used += n_latex
        lengths[row, 0], lengths[row, 1] = n_plain, n_latex
    return DONE, offsets.size - 1, 0, used


@njit(cache=True, nogil=True)
def self_join(starts, ids, n_ids, order, threshold, out_a, out_b, out_shared):
    """Fill all pairs of texts with a Jaccard similarity of ids of at least ``threshold``.

    ``ids[starts[t]:starts[t + 1]]`` ascend, the rarest id being the least; ``order`` lists texts by
    size. Prefix filter: two sets that similar share one of the |A| - ceil(threshold |A|) + 1 rarest
    ids of each. Returns the number of pairs; it may exceed the room, then call again with more.
    """
    head = np.full(n_ids, -1, dtype=np.int64)
    entries = 0
    for text in order:
        size = starts[text + 1] - starts[text]
        entries += size - np.int64(np.ceil(threshold * size - 1e-9)) + 1
    link = np.empty(entries, dtype=np.int64)
    owner = np.empty(entries, dtype=np.int64)
    mark = np.full(starts.size - 1, -1, dtype=np.int64)
    used, found = 0, 0
    for text in order:
        begin, end = starts[text], starts[text + 1]
        size = end - begin
        prefix = size - np.int64(np.ceil(threshold * size - 1e-9)) + 1
        for at in range(begin, begin + prefix):
            entry = head[ids[at]]
            while entry >= 0:
                other = owner[entry]
                entry = link[entry]
                if mark[other] == text:
                    continue
                mark[other] = text
                i, j = begin, starts[other]
                other_end = starts[other + 1]
                if other_end - j < threshold * size - 1e-9:
                    continue
                shared = 0
                while i < end and j < other_end:
                    if ids[i] == ids[j]:
                        shared += 1
                        i += 1
                        j += 1
                    elif ids[i] < ids[j]:
                        i += 1
                    else:
                        j += 1
                total = size + (other_end - starts[other]) - shared
                if shared >= threshold * total - 1e-9:
                    if found < out_a.size:
                        out_a[found], out_b[found] = min(text, other), max(text, other)
                        out_shared[found] = shared
                    found += 1
            owner[used] = text
            link[used] = head[ids[at]]
            head[ids[at]] = used
            used += 1
    return found


@njit(cache=True)
def run_hashes(stream, starts, n, power, out, owner, wholes):
    """Fill the hashes of all n-word runs with their texts, and each text's whole hash."""
    used = 0
    sums = np.empty(np.max(starts[1:] - starts[:-1]) + 1, dtype=np.uint64)
    for text in range(starts.size - 1):
        begin, count = starts[text], starts[text + 1] - starts[text]
        sums[0] = _ZERO
        for k in range(count):
            sums[k + 1] = sums[k] * _BASE + stream[begin + k]
        wholes[text] = _mix(sums[count] ^ _U(count))
        for i in range(count - n + 1):
            out[used] = sums[i + n] - sums[i] * power
            owner[used] = text
            used += 1
    return used
