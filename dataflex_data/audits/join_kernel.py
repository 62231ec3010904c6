"""The compiled self-join of the search for near-duplicates. Import it inside functions only."""

# numba infers the types of these functions from their first call; annotations would not be read.
# ruff: noqa: ANN001, ANN201
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import numpy as np

from dataflex_data.audits.lean_numba import njit


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
