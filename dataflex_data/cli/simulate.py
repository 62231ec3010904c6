"""``dfdata simulate``: try mixers on a CPU before renting GPUs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
    steps: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=100_000,
            help="Training steps: 300 by default, or the first so many of the log.",
        ),
    ] = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Prompts of a step.")] = 64,
    group_size: Annotated[
        int | None,
        typer.Option(min=2, max=1024, help="Responses per prompt of the learner: 5 by default."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of sampler and learner.")] = 1,
    repeats: Annotated[
        int | None,
        typer.Option(min=1, max=100, help="Runs per mixer on the learner: 3 by default."),
    ] = None,
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
    from dataflex_data.samplers.mixer import MIXERS
    from dataflex_data.samplers.simulation import (
        MixerSpec,
        SimulationSettings,
        best_fixed_mixture,
        replay,
    )
    from dataflex_data.samplers.simulation import simulate as run
    from dataflex_data.samplers.simulation_report import (
        SUMMARY_COLUMNS,
        SUMMARY_KEYS,
        draw,
        summary_rows,
        trajectory_rows,
        write_report,
    )
    from dataflex_data.samplers.steering import SteeringRules

    if log is not None:
        given = {"--domains": domains, "--group-size": group_size, "--repeats": repeats}
        unused = [name for name, value in given.items() if value is not None]
        if unused:
            raise ConfigError(
                "simulate", [f"{name} has no effect with --log; drop {name}" for name in unused]
            )
    specs = _specs(mixer or ["static", "reward_gap", "dump_ucb", "tscl"])
    _check_acts_on_results(specs, warmup_steps, update_every)
    check_output_folder(out, force=force)
    reports, names = read_log(log) if log is not None else ([], [])
    n_steps = min(steps or len(reports), len(reports)) if log is not None else steps or 300
    if steps is not None and n_steps < steps:
        raise ConfigError("simulate", [f"--steps is {steps}, the log has {n_steps} steps"])
    _check_time_to_act(specs, n_steps, warmup_steps)
    if plot:
        plots.require_matplotlib("the picture of a simulation (leave it out with --no-plot)")
    settings = SimulationSettings(
        steps=n_steps,
        batch_size=batch_size,
        group_size=group_size or 5,
        seed=seed,
        repeats=1 if log is not None else repeats or 3,
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
    with replace_folder(out, force=force) as folder, _told() as told:
        if log is not None:
            trajectories = replay(reports, names, specs, settings, folder)
            shown |= {"log": str(log), "steps": n_steps}
        else:
            models = read_domains(domains) if domains is not None else dict(DEFAULT_DOMAINS)
            names = sorted(models)
            trajectories = run(models, specs, settings, folder)
            fixed = best_fixed_mixture(models, settings)
            spec = MixerSpec(label="best fixed", name="static", params={"weights": fixed})
            (best,) = run(models, [spec], settings, None)
            shown |= {
                "steps": n_steps,
                "group_size": settings.group_size,
                "repeats": settings.repeats,
                "best_fixed": {name: round(p, 4) for name, p in fixed.items()},
                "learner": {name: models[name].model_dump() for name in names},
            }
        drawn = [*trajectories, *([best] if best is not None else [])]
        png = draw(drawn, names) if plot else None
        write_report(folder, trajectories, best, names, png=png, settings=shown)
    for text in told:
        terminal.note(f"warning: {text}")
    for t in trajectories:
        if not t.moved and MIXERS.get(t.mixer).varies == "by_result":
            terminal.note(f"warning: mixer {t.label}: its proportions never moved in this run")
    rows = summary_rows(trajectories, best) if best is not None else []
    if json:
        summary = [dict(zip(SUMMARY_KEYS, row, strict=True)) for row in rows]
        terminal.print_json(
            {
                "out": str(out),
                **({"summary": summary} if rows else {}),
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


def _check_time_to_act(specs: Sequence[MixerSpec], steps: int, warmup_steps: int) -> None:
    """Refuse a run that would show nothing of an adaptive mixer but its first proportions.

    Raises:
        ConfigError: The warm-up is as long as the run.
        UnknownNameError: No mixer has that name.
    """
    from dataflex_data.samplers.mixer import MIXERS

    waiting = [spec.label for spec in specs if MIXERS.get(spec.name).varies == "by_result"]
    if waiting and warmup_steps >= steps:
        raise ConfigError(
            "simulate",
            [
                f"a warm-up of {warmup_steps} leaves {', '.join(waiting)} none of the {steps} "
                "steps to act in; lower --warmup-steps or run longer"
            ],
        )


def _check_acts_on_results(
    specs: Sequence[MixerSpec], warmup_steps: int, update_every: int
) -> None:
    """Refuse rules for acting on results where no mixer does.

    Raises:
        ConfigError: One is given.
    """
    from dataflex_data.samplers.mixer import MIXERS

    if any(MIXERS.get(spec.name).varies == "by_result" for spec in specs):
        return
    given = {"--warmup-steps": warmup_steps, "--update-every": update_every}
    unused = [name for name, value in given.items() if value != 1]
    if unused:
        raise ConfigError(
            "simulate",
            [
                f"{name} has no effect: none of the mixers acts on results; drop {name}"
                for name in unused
            ],
        )


@contextmanager
def _told() -> Iterator[list[str]]:
    """Collect what is warned of, each text once, instead of printing Python's form of it."""
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield texts
    texts += dict.fromkeys(str(warning.message) for warning in caught)


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
