"""``dfdata simulate``: try mixers on a CPU before renting GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dataflex_data.cli._options import Json
from dataflex_data.core.errors import ConfigError

if TYPE_CHECKING:
    from dataflex_data.samplers.simulation import MixerSpec


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("simulate")(simulate)


def simulate(
    out: Annotated[Path, typer.Option(help="Folder for report, picture, ledgers and summary.")],
    mixer: Annotated[
        list[str] | None,
        typer.Option(
            help="A mixer to try, with parameters as YAML: 'reward_gap' or "
            "'reward_gap: {temperature: 0.5}'. Repeatable; all of static, reward_gap, dump_ucb and "
            "tscl by default."
        ),
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option(
            help="Replay a table (parquet, csv, jsonl) with step, domain and reward instead of "
            "running the learner."
        ),
    ] = None,
    domains: Annotated[
        Path | None,
        typer.Option(
            help="YAML file of the learner's domains: name: {rows, ability, spread, "
            "learning_rate, forgetting}."
        ),
    ] = None,
    steps: Annotated[int, typer.Option(min=1, max=100_000, help="Training steps.")] = 300,
    batch_size: Annotated[int, typer.Option(min=1, help="Prompts of a step.")] = 64,
    group_size: Annotated[int, typer.Option(min=2, max=1024, help="Responses per prompt.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of sampler and learner.")] = 1,
    repeats: Annotated[int, typer.Option(min=1, max=100, help="Runs per mixer.")] = 3,
    warmup_steps: Annotated[int, typer.Option(min=0, help="Steps before mixers act.")] = 1,
    update_every: Annotated[int, typer.Option(min=1, help="Steps between changes.")] = 1,
    plot: Annotated[bool, typer.Option(help="Draw the picture (extra 'plot').")] = True,
    force: Annotated[bool, typer.Option(help="Replace an earlier simulation in --out.")] = False,
    json: Json = False,
) -> None:
    """Run mixers on a learner model, or on logged rewards, and show where their mixtures go."""
    from dataflex_data.core.parquet import check_output_folder, replace_folder
    from dataflex_data.reporting import plots, terminal
    from dataflex_data.samplers.learner import DEFAULT_DOMAINS, read_domains
    from dataflex_data.samplers.log import read_log
    from dataflex_data.samplers.simulation import (
        MixerSpec,
        SimulationSettings,
        best_fixed_mixture,
        replay,
    )
    from dataflex_data.samplers.simulation import simulate as run
    from dataflex_data.samplers.simulation_report import (
        SUMMARY_COLUMNS,
        draw,
        summary_rows,
        trajectory_rows,
        write_report,
    )
    from dataflex_data.samplers.steering import SteeringRules

    if log is not None and domains is not None:
        raise ConfigError("simulate", ["--log brings its own domains; drop --domains"])
    specs = _specs(mixer or ["static", "reward_gap", "dump_ucb", "tscl"])
    check_output_folder(out, force=force)
    if plot:
        plots.require_matplotlib("the picture of a simulation (leave it out with --no-plot)")
    settings = SimulationSettings(
        steps=steps,
        batch_size=batch_size,
        group_size=group_size,
        seed=seed,
        repeats=1 if log is not None else repeats,
        rules=SteeringRules(warmup_steps, update_every),
    )
    shown: dict[str, Any] = {
        "mixers": {spec.label: {spec.name: spec.params} for spec in specs},
        "batch_size": batch_size,
        "seed": seed,
        "warmup_steps": warmup_steps,
        "update_every": update_every,
    }
    best = None
    with replace_folder(out, force=force) as folder:
        if log is not None:
            reports, names = read_log(log)
            trajectories = replay(reports, names, specs, settings, folder)
            shown |= {"log": str(log), "steps": len(trajectories[0].proportions_SD)}
        else:
            models = read_domains(domains) if domains is not None else dict(DEFAULT_DOMAINS)
            names = sorted(models)
            trajectories = run(models, specs, settings, folder)
            fixed = best_fixed_mixture(models, settings)
            spec = MixerSpec(label="best fixed", name="static", params={"weights": fixed})
            (best,) = run(models, [spec], settings, None)
            shown |= {
                "steps": steps,
                "group_size": group_size,
                "repeats": repeats,
                "best_fixed": {name: round(p, 4) for name, p in fixed.items()},
                "learner": {name: models[name].model_dump() for name in names},
            }
        drawn = [*trajectories, *([best] if best is not None else [])]
        png = draw(drawn, names) if plot else None
        write_report(folder, trajectories, best, names, png=png, settings=shown)
    rows = summary_rows(trajectories, best) if best is not None else []
    if json:
        terminal.print_json(
            {
                "out": str(out),
                "summary": [dict(zip(SUMMARY_COLUMNS, row, strict=True)) for row in rows],
                "proportions": {
                    t.label: dict(zip(names, t.proportions_SD[-1].tolist(), strict=True))
                    for t in drawn
                },
            }
        )
        return
    moves = [row for t in trajectories for row in trajectory_rows(t)]
    terminal.print_table("Proportions", ("mixer", "step", *names), moves)
    if rows:
        terminal.print_table("Outcome (mean over domains)", SUMMARY_COLUMNS, rows)
    terminal.note(f"written: {out / 'report.html'}")


def _specs(given: Sequence[str]) -> list[MixerSpec]:
    """Return the mixers as given on the command line; equal names are numbered.

    Raises:
        ConfigError: One is not a name, or a name with a mapping of parameters.
        UnknownNameError: No mixer has that name.
    """
    from dataflex_data.core.config import parse_yaml
    from dataflex_data.samplers.mixer import MIXERS
    from dataflex_data.samplers.simulation import MixerSpec

    specs: list[MixerSpec] = []
    for text in given:
        name = text.strip()
        params: dict[str, Any] = {}
        if ":" in name:
            data = parse_yaml(name, f"--mixer {text!r}")
            (name, params), *more = data.items()
            if more or not isinstance(params, dict):
                raise ConfigError(
                    f"--mixer {text!r}",
                    ["must be one name, or one name with a mapping: 'tscl: {variant: online}'"],
                )
        MIXERS.get(name)
        before = sum(spec.name == name for spec in specs)
        label = name if not before else f"{name}_{before + 1}"
        specs.append(MixerSpec(label=label, name=name, params=params))
    return specs
