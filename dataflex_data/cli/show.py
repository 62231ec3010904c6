"""``dfdata show``: look at rows of a corpus, domain by domain."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dataflex_data.cli._options import Json
from dataflex_data.core.errors import ConfigError, InputDataError, did_you_mean

if TYPE_CHECKING:
    import pyarrow as pa

_CONDITION = re.compile(r"([A-Za-z_][A-Za-z0-9_.]*)\s*(==|!=|<=|>=|=|<|>|~)\s*(.*)", re.S)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def register(app: typer.Typer) -> None:
    """Add the verb to ``app``."""
    app.command("show")(show)


def show(
    folder: Annotated[Path, typer.Argument(help="Corpus folder that `dfdata build` wrote.")],
    n: Annotated[int, typer.Option("--n", min=1, help="Rows per domain.")] = 1,
    split: Annotated[str, typer.Option(help="train or validation.")] = "train",
    where: Annotated[
        list[str] | None,
        typer.Option(
            help="Condition such as domain=logic, n_people>=7, source~gsm8k (~: contains); "
            "fields of extra_info go by their own name; repeatable, all must hold."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Print rows of each domain as a person reads them."""
    from dataflex_data.builders.corpus import corpus_manifest, read_split
    from dataflex_data.core.schema import SPLITS
    from dataflex_data.reporting.terminal import print_json

    folder = folder.expanduser()
    manifest = corpus_manifest(folder)
    if split not in SPLITS:
        raise ConfigError("--split", [f"{split!r} is not one of {', '.join(SPLITS)}"])
    if not manifest["rows"][split]["total"]:
        raise InputDataError(f"{folder}: has no {split} rows; give the other --split")
    table = read_split(folder, split)
    keeps = _conditions(where or [], table)
    shown: dict[str, list[dict[str, Any]]] = {name: [] for name in manifest["domains"]}
    for record in table.to_pylist():
        rows = shown.setdefault(record["domain"], [])
        if len(rows) < n and all(keep(_flat(record)) for keep in keeps):
            rows.append(record)
    found = [record for rows in shown.values() for record in rows]
    if json:
        print_json(found)
        return
    for record in found:
        _print_record(record)
    if not found:
        _refuse_misspelt(where or [], table)
        typer.echo(f"no row of {split} fits {' and '.join(where or [])}")
        for name, values in _known_values(where or [], table).items():
            typer.echo(f"{name} is one of: {', '.join(values)}")


def _flat(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record's fields by their own name, nested ones without their parent."""
    flat: dict[str, Any] = {
        "data_source": record["data_source"],
        "domain": record["domain"],
        "ability": record["ability"],
        "prompt": "\n".join(message["content"] for message in record["prompt"]),
        "style": record["reward_model"]["style"],
        "ground_truth": record["reward_model"]["ground_truth"],
    }
    return {**flat, **record["extra_info"]}


def _conditions(texts: list[str], table: pa.Table) -> list[Callable[[Mapping[str, Any]], bool]]:
    example = _flat(table.slice(0, 1).to_pylist()[0]) if table.num_rows else {}
    problems: list[str] = []
    found: list[Callable[[Mapping[str, Any]], bool]] = []
    for text in texts:
        match = _CONDITION.fullmatch(text.strip())
        if match is None:
            problems.append(f"{text!r} must have the form FIELD=VALUE (or != < <= > >= ~)")
            continue
        name, sign, value = match[1].split(".")[-1], match[2], match[3]
        if name not in example:
            problems.append(
                f"field {name!r} is not known{did_you_mean(name, example)} "
                f"(known: {', '.join(sorted(example))})"
            )
            continue
        typed: object = value
        if isinstance(example[name], int | float) and sign != "~":
            try:
                typed = float(value)
            except ValueError:
                problems.append(f"{text!r}: {name} is a number, {value!r} is none")
                continue
        found.append(_condition(name, sign, typed))
    if problems:
        raise ConfigError("--where", problems)
    return found


def _refuse_misspelt(texts: list[str], table: pa.Table) -> None:
    """Refuse a value that no row has and that is nearly one that some have.

    Raises:
        ConfigError: There is one.
    """
    problems = []
    for text in texts:
        match = _CONDITION.fullmatch(text.strip())
        if match is None or match[2] not in ("=", "=="):
            continue
        name, value = match[1].split(".")[-1], match[3]
        for values in _known_values([text], table).values():
            near = did_you_mean(value, values) if value not in values else ""
            if near:
                problems.append(f"no row has {name} {value!r}{near}")
    if problems:
        raise ConfigError("--where", problems)


def _known_values(texts: list[str], table: pa.Table, limit: int = 12) -> dict[str, list[str]]:
    """Return the values of each text field that a condition names, where they are few."""
    names = [match[1].split(".")[-1] for text in texts if (match := _CONDITION.fullmatch(text))]
    rows = [_flat(record) for record in table.to_pylist()]
    found = {name: sorted({str(row[name]) for row in rows}) for name in names}
    return {name: values for name, values in found.items() if len(values) <= limit}


def _condition(name: str, sign: str, value: object) -> Callable[[Mapping[str, Any]], bool]:
    if sign == "~":
        return lambda flat: str(value).casefold() in str(flat[name]).casefold()
    compare = _OPERATORS[sign]
    return lambda flat: bool(compare(flat[name], value))


def _print_record(record: Mapping[str, Any]) -> None:
    from rich import box
    from rich.console import Group
    from rich.panel import Panel
    from rich.text import Text

    from dataflex_data.reporting.terminal import console

    extra = record["extra_info"]
    details = f"{extra['source']}  {extra['license']}  id {extra['row_id'][:12]}"
    for name in ("difficulty", "n_people", "statement_depth", "prompt_tokens"):
        if extra[name] >= 0:
            details += f"  {name} {extra[name]:g}"
    body: list[Text] = []
    for message in record["prompt"]:
        body += [Text(message["role"], style="bold"), Text(_visible(message["content"])), Text("")]
    body.append(Text("gold", style="bold"))
    body.append(Text(_visible(record["reward_model"]["ground_truth"])))
    title = f"{record['domain']}  {record['data_source']}  {extra['split']} row {extra['index']}"
    console().print(Panel(Group(*body), title=Text(title), subtitle=Text(details), box=box.ROUNDED))


def _visible(text: str) -> str:
    """Return the text with control characters written out: a corpus must not drive a terminal."""
    return _CONTROL.sub(lambda hit: f"\\x{ord(hit[0]):02x}", text)
