"""``dfdata policies``: list presets and components, show one, check a configuration."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dataflex_data.cli._options import Json

if TYPE_CHECKING:
    from dataflex_data.policies.catalogue import Entry

_KINDS = (
    ("scorer", "Scorers", "reads"),
    ("selector", "Selectors", "scores of"),
    ("reweighter", "Reweighters", "scores of"),
    ("mixer", "Mixers", "signal"),
)
_NARROW = 100  # columns of a terminal below which tables have two columns

Imports = Annotated[
    list[str] | None,
    typer.Option(
        "--import",
        metavar="MODULE|FILE.py",
        help="A module or file that registers components of your own. Repeatable.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the verb to ``app``."""
    verbs = typer.Typer(
        help="Data policies: presets and the components they are made of. `dfdata policies` alone "
        "lists them; the commands show one and check a configuration.",
        invoke_without_command=True,
    )
    verbs.callback()(list_policies)
    verbs.command("show")(show)
    verbs.command("check")(check)
    app.add_typer(verbs, name="policies")


def list_policies(context: typer.Context, imports: Imports = None, json: Json = False) -> None:
    """List the presets and the registered components."""
    _import(imports)
    if context.invoked_subcommand is not None:
        return
    from dataflex_data.policies.presets import PRESETS
    from dataflex_data.reporting.terminal import print_json
    from dataflex_data.scheduling import entries

    found = list(entries())
    if json:
        print_json(
            {
                "presets": [_preset_plain(name) for name in PRESETS],
                "components": [_entry_plain(entry) for entry in found],
            }
        )
        return
    _table(
        "Presets (dfdata policies show NAME)",
        ["name", "mechanism", "scorer", "actuator", "what it does"],
        [
            [
                preset.name,
                preset.config["mechanism"],
                preset.config.get("scorer", {}).get("name"),
                preset.config.get("actuator", {}).get("name"),
                preset.about,
            ]
            for preset in PRESETS.values()
        ],
    )
    for kind, title, reads in _KINDS:
        rows = [
            [entry.name, ", ".join(entry.reads) or "-", entry.needs_groups, entry.summary]
            for entry in found
            if entry.kind == kind
        ]
        columns = ["name", reads, "groups", "what it does"]
        if kind == "mixer":
            columns, rows = ["name", reads, "what it does"], [[*row[:2], row[3]] for row in rows]
        _table(title, columns, rows)


def show(
    name: Annotated[str, typer.Argument(help="A preset or component.")],
    imports: Imports = None,
    json: Json = False,
) -> None:
    """Show a preset as the block to write, and a component with its parameters."""
    import yaml

    from dataflex_data.policies.catalogue import find
    from dataflex_data.policies.presets import PRESETS
    from dataflex_data.reporting.terminal import console, print_json
    from dataflex_data.scheduling import entries

    _import(imports)
    components = find(name, list(entries()), PRESETS)
    if json:
        print_json(
            {
                "preset": _preset_plain(name) if name in PRESETS else None,
                "components": [{**_entry_plain(entry), "text": entry.text} for entry in components],
            }
        )
        return
    target = console()
    if name in PRESETS:
        preset = PRESETS[name]
        target.print(f"Preset {name}: {preset.about}")
        if preset.note:
            target.print(f"Note: {preset.note}.")
        target.print()
        block = {"dataflex": _plain(preset.config)}
        target.print(yaml.safe_dump(block, sort_keys=False).rstrip())
        target.print()
    for entry in components:
        target.print(f"{entry.kind.capitalize()} {entry.name}")
        target.print(entry.text)
        if not entry.parameters:
            target.print("\nNo parameters.\n")
            continue
        _table(
            f"Parameters of the {entry.kind}",
            ["parameter", "values", "default", "meaning"],
            [
                [
                    parameter.name,
                    parameter.values,
                    "(required)" if parameter.required else _written(parameter.default),
                    parameter.meaning,
                ]
                for parameter in entry.parameters
            ],
        )


def check(
    file: Annotated[
        Path, typer.Argument(help="YAML with a `dataflex` block among others, or the block alone.")
    ],
    adv_estimator: Annotated[
        str | None,
        typer.Option(
            help="verl's algorithm.adv_estimator, such as grpo or gae; one of your own as "
            "custom:NAME. The file's, where it has one."
        ),
    ] = None,
    group_size: Annotated[
        int | None, typer.Option(min=1, help="Responses per prompt. The file's, where it has one.")
    ] = None,
    loss_agg_mode: Annotated[
        str | None,
        typer.Option(help="verl's loss_agg_mode. The file's, where it has one; else token-mean."),
    ] = None,
    imports: Imports = None,
) -> None:
    """Refuse a configuration that cannot work, with every reason, before a GPU is rented.

    Looks at the `dataflex` block: mixer, selectors, reweighters. How they fit the rest of a verl
    run is for `dfdata doctor`.
    """
    from dataflex_data.core.config import load_yaml
    from dataflex_data.core.errors import ConfigError
    from dataflex_data.integrations.verl.settings import get, run_settings
    from dataflex_data.policies.checks import Host, estimator_named
    from dataflex_data.reporting.terminal import console, note
    from dataflex_data.scheduling import load_policies

    _import(imports)
    data = load_yaml(file)
    block, rest = _block(data, str(file))
    size = group_size or get(rest, "actor_rollout_ref.rollout.n")
    estimator = estimator_named(adv_estimator) or get(rest, "algorithm.adv_estimator")
    mode = loss_agg_mode or get(rest, "actor_rollout_ref.actor.loss_agg_mode") or "token-mean"
    host = Host(
        adv_estimator=estimator if isinstance(estimator, str) else None,
        group_size=size if isinstance(size, int) else None,
    )
    try:
        settings = run_settings(block)
    except ConfigError as error:
        raise ConfigError(str(file), error.problems) from None
    policies = load_policies(settings, host, str(mode), str(file))
    steps = [f"mix with {policies.mix.actuator.name}"] if policies.mix else []
    for active in policies.active:
        scorer = f" on {active.scorer.name}" if active.scorer else ""
        steps.append(f"{active.spec.mechanism} with {active.actuator.name}{scorer}")
    console().print(f"{file}: good: {', then '.join(steps) or 'no policy (baseline)'}")
    for remark in policies.remarks:
        note(f"note: {remark}")
    if rest:
        note(f"note: the rest of the file was not looked at: dfdata doctor --config {file}")


def _block(data: Mapping[str, Any], where: str) -> tuple[Any, Mapping[str, Any]]:
    """Return the ``dataflex`` block of a file, and what stands beside it."""
    from dataflex_data.core.errors import ConfigError, near_matches
    from dataflex_data.integrations.verl.settings import RunSettings

    if "dataflex" in data:
        return data["dataflex"], {key: value for key, value in data.items() if key != "dataflex"}
    known = {*RunSettings.model_fields, "preset"}
    if data and not any(key in known or near_matches(str(key), known) for key in data):
        near = [key for key in data if len(key) > 5 and near_matches(key, ["dataflex"])]
        hint = f"; is {near[0]!r} to be `dataflex`?" if near else ""
        raise ConfigError(where, [f"has no `dataflex` block, nor any key of one{hint}"])
    return data, {}


def _import(names: Sequence[str] | None) -> None:
    from dataflex_data.core.plugins import import_component_file

    for name in names or ():
        import_component_file(name)


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table; on a narrow terminal with two columns, so that words stay whole."""
    from dataflex_data.reporting.terminal import console, print_table

    if console().width >= _NARROW:
        print_table(title, columns, rows)
        return
    folded = []
    for first, *middle, last in rows:
        facts = [
            f"{column}: {_fact(value)}"
            for column, value in zip(columns[1:-1], middle, strict=True)
            if value is not None
        ]
        folded.append([first, "\n".join([*([str(last)] if last else []), *facts])])
    print_table(title, [columns[0], columns[-1]], folded)


def _fact(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _preset_plain(name: str) -> dict[str, Any]:
    from dataflex_data.policies.presets import PRESETS

    preset = PRESETS[name]
    return {
        "name": preset.name,
        "about": preset.about,
        "note": preset.note,
        "config": _plain(preset.config),
    }


def _entry_plain(entry: Entry) -> dict[str, Any]:
    return {
        "kind": entry.kind,
        "name": entry.name,
        "summary": entry.summary,
        "reads": list(entry.reads),
        "parameters": [_plain(dataclasses.asdict(one)) for one in entry.parameters],
        "needs_groups": entry.needs_groups,
        "timing": entry.timing,
    }


def _written(value: Any) -> str:  # noqa: ANN401 - a default of any plain type
    """Return a default as one writes it in YAML."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "-"}[value]
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_written(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_written, value)) + "]"
    return str(value)


def _plain(value: Any) -> Any:  # noqa: ANN401 - configuration values are of any plain type
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value
