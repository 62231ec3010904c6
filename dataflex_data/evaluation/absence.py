"""Declared methods that have no run: a correction over fewer methods is a milder one.

By design a correction counts the methods present in a group (``inference.family: per_baseline``).
Who leaves methods out of the table therefore changes verdicts; that is never silent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dataflex_data.evaluation.compare import Comparison
from dataflex_data.evaluation.contract import Contract
from dataflex_data.evaluation.flags import Flag, Group
from dataflex_data.evaluation.runs import RunKey, group_label
from dataflex_data.reporting.words import plural

_MOST_GROUPS = 3


def absence_flags(contract: Contract, keys: Iterable[RunKey]) -> list[Flag]:
    """Return one flag per group and baseline with absent methods, and per absent mechanism.

    A mechanism is absent from a group that holds neither its baseline nor its methods; where no
    group holds it, one flag says so for all.
    """
    present: dict[Group, set[str]] = {}
    for key in keys:
        present.setdefault(key.group, set()).add(key.method)
    everywhere = {name for names in present.values() for name in names}
    flags = []
    for name, family in contract.methods.items():
        if everywhere.isdisjoint((family.baseline, *family.methods)):
            told = f"the table has no run of mechanism {name!r}: neither of its baseline "
            detail = f"{told}{family.baseline} nor of {', '.join(family.methods)}"
            flags.append(Flag("absent_mechanism", (), _joined(family.methods), None, "", detail))
    for group, names in sorted(present.items()):
        for baseline, methods in contract.baseline_families().items():
            absent = [method for method in methods if method not in names]
            if not absent or baseline not in everywhere:
                continue
            if baseline not in names:
                detail = f"no run of {baseline} and of the methods compared to it"
                flags.append(Flag("absent_mechanism", group, _joined(methods), None, "", detail))
                continue
            counted = (
                f"all {len(methods)} declared methods"
                if contract.inference.family == "declared"
                else f"{len(methods) - len(absent)} of {len(methods)} declared methods"
            )
            detail = f"no run, though declared against {baseline}: the correction counts {counted}"
            flags.append(Flag("absent_methods", group, _joined(absent), None, "", detail))
    return flags


def absence_sentences(
    contract: Contract, flags: Sequence[Flag], comparisons: Sequence[Comparison]
) -> list[str]:
    """Return what is absent, and which verdicts would differ if all declared methods counted."""
    columns = contract.data.id_columns
    sentences = [
        f"{flag.detail[0].upper()}{flag.detail[1:]}."
        for flag in flags
        if flag.kind == "absent_mechanism" and not flag.group
    ]
    absent: dict[tuple[str, str], list[str]] = {}
    for flag in flags:
        if flag.kind == "absent_methods":
            where = absent.setdefault((flag.method, flag.detail), [])
            where.append(group_label(flag.group, columns))
    for (methods, detail), where in absent.items():
        left = len(where) - _MOST_GROUPS
        more = f" and {plural(left, 'more group')}, see Flags" if left > 0 else ""
        sentences.append(f"{methods}: {detail} ({'; '.join(where[:_MOST_GROUPS])}{more}).")
    changed = [
        one for one in comparisons if not one.is_aa and one.verdict != one.verdict_all_declared
    ]
    sentences += [
        f"Counting all declared methods, {one.method} ({group_label(one.group, columns)}) would be "
        f"{one.verdict_all_declared}, not {one.verdict}."
        for one in changed
    ]
    if absent and not changed:
        sentences.append("No verdict would differ if the correction counted all declared methods.")
    return sentences


def _joined(names: Iterable[str]) -> str:
    return ", ".join(names)
