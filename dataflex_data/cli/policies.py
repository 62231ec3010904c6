"""``dfdata policies``: list presets and components, show one, check a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from dataflex_data.cli._options import Json


def register(app: typer.Typer) -> None:
    """Add the verb to ``app``."""
    verbs = typer.Typer(
        help="List, show and check data policies: presets, scorers, selectors, reweighters.",
        invoke_without_command=True,
    )
    verbs.callback()(list_policies)
    verbs.command("show")(show)
    verbs.command("check")(check)
    app.add_typer(verbs, name="policies")


def list_policies(context: typer.Context, json: Json = False) -> None:
    """List the presets and the registered components."""
    if context.invoked_subcommand is not None:
        return
    from dataflex_data.policies.catalogue import entries
    from dataflex_data.policies.presets import PRESETS
    from dataflex_data.reporting.terminal import print_json, print_table

    if json:
        print_json(
            {
                "presets": [_preset_plain(name) for name in PRESETS],
                "components": [
                    {
                        "kind": entry.kind,
                        "name": entry.name,
                        "summary": entry.summary,
                        "reads": list(entry.reads),
                        "parameters": _plain(entry.parameters),
                        "needs_groups": entry.needs_groups,
                        "timing": entry.timing,
                    }
                    for entry in entries()
                ],
            }
        )
        return
    print_table(
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
    found = list(entries())
    for kind, title in (
        ("scorer", "Scorers"),
        ("selector", "Selectors"),
        ("reweighter", "Reweighters"),
    ):
        print_table(
            title,
            ["name", "reads" if kind == "scorer" else "scores of", "groups", "what it does"],
            [
                [entry.name, ", ".join(entry.reads) or "-", entry.needs_groups, entry.summary]
                for entry in found
                if entry.kind == kind
            ],
        )


def show(
    name: Annotated[str, typer.Argument(help="A preset or component.")], json: Json = False
) -> None:
    """Show a preset as the block to write, and a component with its parameters."""
    import yaml

    from dataflex_data.policies.catalogue import find
    from dataflex_data.policies.presets import PRESETS
    from dataflex_data.reporting.terminal import console, print_json, print_table

    components = find(name, PRESETS)
    if json:
        print_json(
            {
                "preset": _preset_plain(name) if name in PRESETS else None,
                "components": [
                    {"kind": entry.kind, "text": entry.text, "parameters": _plain(entry.parameters)}
                    for entry in components
                ],
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
        print_table(
            f"Parameters of the {entry.kind}",
            ["parameter", "default"],
            [[key, str(value)] for key, value in entry.parameters.items()],
        )


def check(
    file: Annotated[Path, typer.Argument(help="YAML with a `dataflex` block, or the block alone.")],
    adv_estimator: Annotated[
        str | None, typer.Option(help="verl's algorithm.adv_estimator, such as grpo or gae.")
    ] = None,
    group_size: Annotated[int | None, typer.Option(help="Responses per prompt.")] = None,
    loss_agg_mode: Annotated[str, typer.Option(help="verl's loss_agg_mode.")] = "token-mean",
) -> None:
    """Refuse a configuration that cannot work, with every reason, before a GPU is rented."""
    from dataflex_data.core.config import load_yaml
    from dataflex_data.policies.checks import Host
    from dataflex_data.policies.engine import load_policies
    from dataflex_data.reporting.terminal import console

    data = load_yaml(file)
    block = data["dataflex"] if set(data) == {"dataflex"} else data
    policies = load_policies(
        block, Host(adv_estimator=adv_estimator, group_size=group_size), loss_agg_mode, str(file)
    )
    steps = [f"mix with {policies.mix.actuator.name}"] if policies.mix else []
    for active in policies.active:
        scorer = f" on {active.scorer.name}" if active.scorer else ""
        steps.append(f"{active.spec.mechanism} with {active.actuator.name}{scorer}")
    console().print(f"{file}: good: {', then '.join(steps) or 'no policy (baseline)'}")


def _preset_plain(name: str) -> dict[str, Any]:
    from dataflex_data.policies.presets import PRESETS

    preset = PRESETS[name]
    return {
        "name": preset.name,
        "about": preset.about,
        "note": preset.note,
        "config": _plain(preset.config),
    }


def _plain(value: Any) -> Any:  # noqa: ANN401 - configuration values are of any plain type
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value
