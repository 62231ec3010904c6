"""Writes the component reference from the registries, so that no page can drift from the code.

A page of ``docs/components`` holds regions from ``<!-- reference: KIND -->`` to ``<!-- end -->``.
Their text is made here from docstrings, parameter models and examples that are run, and committed,
so that the pages read the same in a repository viewer. ``--check`` (run by the tests) fails where
a page is behind the code.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from reference_examples import (
    BATCH,
    CHANNEL_ROWS,
    FILTER_TEXTS,
    ITEMS,
    MIXER_PARAMS,
    NEEDS_EXTRA,
    PARAMS,
    RECORDS,
    SCORER_FOR,
    SCORER_OF,
    VERDICTS,
)

from dataflex_data.audits.benchmarks import load_benchmarks
from dataflex_data.audits.comparison import CHANNELS, Rule
from dataflex_data.audits.contamination import Decontaminator
from dataflex_data.builders.filters import Filters, filter_text
from dataflex_data.builders.source import SOURCES, Candidate, FileSource, GenerationRequest
from dataflex_data.core.config import parse_config
from dataflex_data.core.parameters import parameters_of
from dataflex_data.policies import RolloutBatch
from dataflex_data.policies.component import (
    REWEIGHTERS,
    SCORERS,
    SELECTORS,
    Scorer,
    Scores,
    Turn,
    build,
)
from dataflex_data.policies.presets import PRESETS
from dataflex_data.samplers.domain_index import DomainIndex
from dataflex_data.samplers.mixer import MIXERS, build_mixer
from dataflex_data.samplers.signals import StepSignals
from dataflex_data.samplers.steering import SteeringRules
from dataflex_data.samplers.stream import MixtureStream
from dataflex_data.verifiers import routes

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "components"
_REGION = re.compile(r"(<!-- reference: (\w+) -->\n).*?(<!-- end -->)", re.S)


def fragment(text: str, limit: int = 0) -> str:
    """Return text as one line of code that a table cell can hold."""
    line = " ".join(text.split())
    if limit and len(line) > limit:
        line = line[: limit - 1] + "…"
    fence = "``" if "`" in line else "`"
    return f"{fence}{line}{fence}".replace("|", "\\|")


def docstring(text: str | None) -> tuple[str, str]:
    """Return a component's docstring as Markdown, and its source apart."""
    body, _, source = inspect.cleandoc(text or "").partition("Source:")
    markdown = re.sub(r"``([^`]+)``", r"`\1`", body.strip())
    source = " ".join(re.sub(r"``([^`]+)``", r"`\1`", source).split())
    source = re.sub(r"arXiv (\d{4}\.\d{4,5})", r"[arXiv \1](https://arxiv.org/abs/\1)", source)
    return markdown, source


def parameters(model: type[Any] | None) -> str:
    """Return the table of a model's parameters, or a sentence where it has none.

    Raises:
        SystemExit: A parameter is not told in the model's docstring.
    """
    if model is None or not model.model_fields:
        return "No parameters."
    lines = ["| parameter | values | default | meaning |", "| --- | --- | --- | --- |"]
    return "\n".join(lines + list(_parameter_rows(model)))


def _parameter_rows(model: type[Any]) -> Iterator[str]:
    for one in parameters_of(model):
        if not one.meaning:
            sys.exit(f"{model.__name__}.{one.name} is not told under `Attributes:`")
        shown = "(required)" if one.required else fragment(_plain(one.default), 60)
        values = one.values.replace("|", "\\|")
        yield f"| `{one.name}` | {values} | {shown} | {one.meaning} |"


def _plain(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(_plain(item) for item in value) + "]"
    return str(value)


def section(
    name: str, text: str, source: str, facts: str, model: type[Any] | None, shown: str
) -> str:
    """Return one component's part of a page."""
    parts = [f"### `{name}`", text, facts, parameters(model)]
    parts += [f"**Example.** {shown}"] if shown else []
    parts += [f"**Source.** {source[0].upper()}{source[1:]}"] if source else []
    return "\n\n".join(part for part in parts if part) + "\n"


def _numbers(values: Any) -> str:
    return " ".join(f"{value:.4g}" for value in np.asarray(values, dtype=float).tolist())


def _scorer(name: str) -> Scorer:
    return build(SCORERS, name, PARAMS.get(name))


def _scores_for(kind: Any, name: str) -> tuple[str, Scores]:
    accepted = build_component(kind, name).accepts
    scorer = SCORER_OF.get(name) or next(
        SCORER_FOR[unit] for unit in ("group", "response", "token") if unit in accepted
    )
    return scorer, _scorer(scorer).run(BATCH, 0)


def build_component(registry: Any, name: str) -> Any:
    """Return a component with the parameters that it is shown with."""
    return build(registry, name, PARAMS.get(name))


def _written(name: str) -> str:
    params = PARAMS.get(name)
    return f"{{name: {name}, params: {_flow(params)}}}" if params else f"{{name: {name}}}"


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    return _plain(value)


def scorer_sections() -> Iterator[str]:
    """Yield every scorer."""
    for name, kind in SCORERS.items():
        text, source = docstring(kind.__doc__)
        component = _scorer(name)
        scores = component.run(BATCH, 0)
        unit = {"group": "group", "response": "response", "token": "token"}[scores.granularity]
        shown = f"`{_written(name)}` on the step above, per {unit}"
        values = scores.values
        if unit == "group":
            values = values[BATCH.groups.heads_P]
            shown += " (p, q)"
        facts = (
            f"Reads: {', '.join(f'`{field}`' for field in component.reads)}. One score per "
            f"{unit}, available {kind.timing.replace('_', '-')}."
            + (" Needs several responses per prompt." if kind.needs_groups else "")
        )
        yield section(name, text, source, facts, kind.Params, f"{shown}: `{_numbers(values)}`")


def selector_sections() -> Iterator[str]:
    """Yield every selector."""
    for name, kind in SELECTORS.items():
        text, source = docstring(kind.__doc__)
        component = build_component(SELECTORS, name)
        when = "before the rollout" if kind.timing == "pre_rollout" else "after the advantages"
        units = {"group": "whole groups", "member": "members of groups", "response": "responses"}
        facts = (
            f"Acts {when}; keeps or drops {units[component.unit]}. Scores it can use: "
            f"{', '.join(component.accepts) if kind.needs_scorer else 'none needed'}."
            + (" Needs several responses per prompt." if kind.needs_groups else "")
        )
        if kind.timing == "pre_rollout":
            shown = (
                "the prompt of a group that was silent 0, 1, 3 and 10 times in a row is sent with "
                f"the chance `{_numbers(_greso_chances(component))}`."
            )
        else:
            scorer, scores = _scores_for(SELECTORS, name)
            kept = component.keep(scores, BATCH, Turn(step=0, seed=1))
            shown = (
                f"`{_written(name)}` with `{_written(scorer)}` keeps of the step above "
                f"`{' '.join('x' if one else '.' for one in kept.tolist())}` "
                f"({int(kept.sum())} of 8 responses, {int(BATCH.lengths_B[kept].sum())} of "
                f"{BATCH.n_tokens} tokens)"
            )
        yield section(name, text, source, facts, kind.Params, shown)


def _greso_chances(component: Any) -> list[float]:
    chances = [component.chance("prompt")]
    for visit in range(1, 11):
        component.observe(
            RolloutBatch(rewards=[0, 0], uids=[visit] * 2, lengths=[1, 1], prompts=["prompt"] * 2)
        )
        chances += [component.chance("prompt")] if visit in (1, 3, 10) else []
    return chances


def reweighter_sections() -> Iterator[str]:
    """Yield every reweighter."""
    for name, kind in REWEIGHTERS.items():
        text, source = docstring(kind.__doc__)
        component = build_component(REWEIGHTERS, name)
        facts = f"Scores it can use: {', '.join(component.accepts)}. " + (
            "Weights are then scaled to mean 1 in the unit of the loss."
            if component.normalises
            else "Weights are not scaled, unless `normalize` says so."
        )
        scorer, scores = _scores_for(REWEIGHTERS, name)
        raw = np.asarray(component.weights(scores, BATCH, Turn(step=0, seed=1)), dtype=float)
        weights = raw / raw.mean() if component.normalises else raw
        unit = "token" if scores.granularity == "token" else "response"
        scaled = " after scaling to mean 1" if component.normalises else ""
        shown = (
            f"`{_written(name)}` with `{_written(scorer)}` on the step above, per {unit}{scaled}: "
            f"`{_numbers(weights)}`"
        )
        yield section(name, text, source, facts, kind.Params, shown)


def mixer_sections() -> Iterator[str]:
    """Yield every mixer."""
    for name, kind in MIXERS.items():
        text, source = docstring(kind.__doc__)
        mixer = build_mixer(name, MIXER_PARAMS.get(name), ("logic", "math", "science"))
        when = {"by_result": "the results", "by_step": "the step", "never": "nothing"}[kind.varies]
        facts = (
            f"Signal: `{mixer.wanted_signal}`. Changes with {when}. Before anything is known: "
            f"{re.sub('``', '`', kind.cold_start)}."
        )
        written = f"{{name: {name}" + (
            f", params: {_flow(MIXER_PARAMS[name])}}}" if name in MIXER_PARAMS else "}"
        )
        before, after = _mixed(name)
        shown = (
            f"`{written}`; logic, math, science at first `{_numbers(before)}`, and after the three "
            f"steps above `{_numbers(after)}`"
        )
        yield section(name, text, source, facts, kind.Params, shown)


def _mixed(name: str) -> tuple[list[float], list[float]]:
    """Return proportions before and after three steps with solve rates 1/4, 1/2 and 3/4."""
    index = DomainIndex.build({"logic": 90, "math": 90, "science": 90})
    mixer = build_mixer(name, MIXER_PARAMS.get(name), index.names, 1)
    stream = MixtureStream(index, 12, mixer, seed=1, rules=SteeringRules(warmup_steps=0))
    seen: list[list[float]] = []
    solved_of_four = np.array([1, 2, 3])
    for step in range(4):
        batch = stream.next_batch()
        if batch is None:
            raise RuntimeError(f"mixer {name}: the example ran out of rows")
        seen.append(list(stream.proportions.values()))
        rows = np.repeat(batch.rows, 4)
        domain = stream.index.domains_of(rows)
        # Logic gets better by one response in the third step, so that slopes are not all 0.
        solved = solved_of_four[domain] + ((domain == 0) & (step == 2))
        rewards = (np.tile(np.arange(4), batch.rows.size) < solved).astype(float)
        rate = np.where((domain == 0) & (step == 2), 0.5, solved_of_four[domain] / 4)
        deviation = np.sqrt(4 / 3 * rate * (1 - rate))
        stream.report(
            StepSignals(
                rows=rows,
                uids=[f"{step}-{slot}" for slot in np.repeat(np.arange(batch.rows.size), 4)],
                rewards=rewards,
                advantages=(rewards - rate) / (deviation + 1e-4),
                losses=1 - rate,
                excess_losses=0.5 - rate,
                lengths=np.full(rows.size, 100),
                step=batch.step,
            )
        )
    return seen[0], seen[3]


def preset_sections() -> Iterator[str]:
    """Yield the table of presets."""
    yield "| preset | block | what it does | differs from the published run |"
    yield "| --- | --- | --- | --- |"
    for name, preset in PRESETS.items():
        config = preset.config
        block = (
            f"`mechanism: {config['mechanism']}`"
            if config["mechanism"] == "none"
            else f"`{config['mechanism']}`: `{config['scorer']['name']}` → "
            f"`{config['actuator']['name']}` {fragment(_flow(config['actuator']['params']))}"
        )
        yield f"| `{name}` | {block} | {preset.about} | {preset.note} |".replace(" |  |", " | |")


def source_sections() -> Iterator[str]:
    """Yield every source."""
    for name, kind in SOURCES.items():
        text, source = docstring(kind.__doc__)
        dataset = getattr(kind, "dataset", None) if issubclass(kind, FileSource) else None
        facts = [f"Route: `{kind.route}`." if hasattr(kind, "route") else "Route: by `verifier`."]
        facts += [f"Licence: {kind.license}." if hasattr(kind, "license") else "Licence: yours."]
        if dataset is not None:
            facts += [f"Read from: `{dataset.repo_id}`, {', '.join(map(fragment, dataset.files))}."]
        elif issubclass(kind, FileSource):
            facts += ["Read from: a file of yours."]
        else:
            facts += ["Made on the spot."]
        shown = (
            f"needs the extra `{NEEDS_EXTRA[name]}`; see [procedural](../procedural.md)."
            if name in NEEDS_EXTRA
            else _candidate_shown(name, kind)
        )
        yield section(name, text, source, " ".join(facts), kind.Params, shown)


def _candidate_shown(name: str, kind: Any) -> str:
    params, record = RECORDS.get(name, ({}, {}))
    built = kind(parse_config(kind.Params, params, f"source {name}"))
    if issubclass(kind, FileSource):
        made = built.parse(record)
        first = f"the record {fragment(str(record), 170)} becomes the question "
    else:
        request = GenerationRequest(seed=42, count_by_split={"train": 1, "validation": 0})
        made = built.generate(request).candidates_by_split["train"][0]
        first = "for the seed 42, the first question is "
    if not isinstance(made, Candidate):
        raise RuntimeError(f"source {name}: the example record is dropped: {made}")
    options = f", options {fragment(' / '.join(made.options))}" if made.options else ""
    return f"{first}{fragment(made.question, 400)}, gold {fragment(made.gold)}{options}."


def filter_sections() -> Iterator[str]:
    """Yield the parameters of the filters, and a text for each reason."""
    yield parameters(Filters) + "\n"
    yield "| filter | text | dropped as |"
    yield "| --- | --- | --- |"
    off = {"language": "any", "figures": "keep", "degenerate": "keep"}
    on = {"language": "en", "figures": "drop", "degenerate": "drop"}
    for name, text in FILTER_TEXTS:
        alone = parse_config(Filters, {**off, name: on[name]}, "filters")
        drop = filter_text(text, alone)
        if drop is None:
            raise RuntimeError(f"filter {name} keeps its example {text[:60]!r}")
        yield f"| `{name}` | {fragment(text, 110)} | `{drop.reason}` |"


def route_sections() -> Iterator[str]:
    """Yield verdicts for every kind of verifier, and the table of routes."""
    for kind, (gold, options, responses) in VERDICTS.items():
        yield f"### `{kind}`\n"
        shown = (
            f", options A to {'ABC'[len(options) - 1]}: {' / '.join(options)}" if options else ""
        )
        yield f"Gold {fragment(gold)}{shown}.\n"
        yield "| response | score | step | reason |"
        yield "| --- | --- | --- | --- |"
        for response in responses:
            verdict = routes.verify(f"dataflex/{kind}", response, gold, {"options": options})
            reason = verdict.reason.replace("|", "\\|")
            yield f"| {fragment(response)} | {verdict.score:g} | `{verdict.step}` | {reason} |"
        yield ""
    yield "### Routes\n"
    yield "| `data_source` | verifier | rows | stock verl 0.9.1 |"
    yield "| --- | --- | --- | --- |"
    for name, route in routes.ROUTES.items():
        yield f"| `{name}` | `{route.kind}` | {route.description} | {route.stock_verl} |"


def channel_sections() -> Iterator[str]:
    """Yield what each disguise of an item is found by."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "items.jsonl"
        path.write_text("".join(json.dumps(item) + "\n" for item in ITEMS), encoding="utf-8")
        columns = {"mine": {"question": "question", "id": "id", "options": "options"}}
        judge = Decontaminator(load_benchmarks([], files={"mine": path}, columns=columns), Rule())
        found = judge.flag(
            [text for _, text, _ in CHANNEL_ROWS], [options for *_, options in CHANNEL_ROWS]
        )
    yield f"Channels, strongest first: {', '.join(f'`{name}`' for name in CHANNELS)}.\n"
    yield "| row | hits the channels | containment | Jaccard |"
    yield "| --- | --- | --- | --- |"
    for (about, _, _), hit in zip(CHANNEL_ROWS, found, strict=True):
        if hit is None:
            yield f"| {about} | none: the row stays | | |"
        else:
            channels = ", ".join(f"`{name}`" for name in hit.channels)
            yield f"| {about} | {channels} | {hit.containment:.2f} | {hit.jaccard:.2f} |"


SECTIONS: dict[str, Callable[[], Iterator[str]]] = {
    "scorers": scorer_sections,
    "selectors": selector_sections,
    "reweighters": reweighter_sections,
    "mixers": mixer_sections,
    "presets": preset_sections,
    "sources": source_sections,
    "filters": filter_sections,
    "verdicts": route_sections,
    "channels": channel_sections,
}


def rendered(text: str) -> str:
    """Return a page with its regions made anew."""

    def fill(region: re.Match[str]) -> str:
        body = "\n".join(SECTIONS[region[2]]())
        return f"{region[1]}\n{body.strip()}\n\n{region[3]}"

    return _REGION.sub(fill, text)


def stale_pages(write: bool) -> list[Path]:
    """Return the pages that are behind the code; bring them up to date where asked to."""
    stale = []
    for path in sorted(PAGES.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        made = rendered(text)
        if made != text:
            stale.append(path)
            if write:
                path.write_text(made, encoding="utf-8")
    return stale


def main() -> int:
    """Render, or with ``--check`` only say what is stale."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if stale")
    check = parser.parse_args().check
    stale = stale_pages(write=not check)
    for path in stale:
        print(f"{path.relative_to(ROOT)}: {'stale' if check else 'written'}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
