"""What `dfdata doctor` looks at: versions, registration, a run's configuration and data."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path
from typing import Any, Literal, TypeAlias

from dataflex_data import __version__
from dataflex_data.core.errors import ConfigError
from dataflex_data.integrations.verl.checks import problems, remarks
from dataflex_data.integrations.verl.datafiles import FILE_KEYS, local_files, named_files
from dataflex_data.integrations.verl.settings import TRAINER_MODES, get

State: TypeAlias = Literal["ok", "note", "problem", "skipped"]
ENTRY_POINT = "dataflex_data.integrations.verl.plugin"
_TIMEOUT_S = 180
_PROBE = """
import json, sys
import verl
import verl.trainer.ppo.v1
from verl.trainer.ppo.v1.trainer_base import TRAINER_REGISTRY
print("DOCTOR" + json.dumps(sorted(TRAINER_REGISTRY)))
"""
_RAY_PROBE = """
import json, ray
ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
@ray.remote
def look():
    import verl, verl.trainer.ppo.v1
    from verl.trainer.ppo.v1.trainer_base import TRAINER_REGISTRY
    return sorted(TRAINER_REGISTRY)
found = ray.get(look.remote())
ray.shutdown()
print("DOCTOR" + json.dumps(found))
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at.

    Attributes:
        area: ``versions``, ``plugin``, ``configuration`` or ``data``.
        what: What was looked at.
        state: How it stands.
        detail: What was found, and where it is a problem, what to do.
    """

    area: str
    what: str
    state: State
    detail: str


def examine(
    config: Mapping[str, Any] | None,
    *,
    processes: bool,
    ray: bool,
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[Finding]:
    """Yield all findings.

    Args:
        config: verl's whole configuration of a run; ``None`` where none was given.
        processes: Look at a fresh process.
        ray: Look at a Ray worker too.
        say: Told what is waited for.
    """
    yield from _versions()
    installed = _version("verl") is not None
    yield from _plugin(installed, say, processes=processes, ray=ray)
    if config is None:
        return
    found = list(problems(config))
    for problem in found:
        yield Finding("configuration", "run", "problem", problem)
    if not found:
        yield Finding("configuration", "run", "ok", "can be carried out as written")
        for remark in remarks(config):
            yield Finding("configuration", "run", "note", remark)
    yield from _data(config)


def _data(config: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield what the run's data files hold, as far as they are on this machine."""
    needed = {
        str(get(config, "data.prompt_key") or "prompt"),
        str(get(config, "data.reward_fn_key") or "data_source"),
        "reward_model",
    }
    domain_key = str(get(config, "dataflex.domain_key") or "domain")
    batch = get(config, "data.train_batch_size")
    for key in FILE_KEYS:
        here = {str(file.path): file for file in local_files(config, key)}
        for name in named_files(config, key):
            file = here.get(str(Path(name).expanduser()))
            if file is None:
                yield _elsewhere(key, name)
                continue
            try:
                lacking = sorted(needed - set(file.columns))
                counts = file.counts(domain_key)
            except ConfigError as error:
                yield Finding("data", name, "problem", " ".join(error.problems))
                continue
            if lacking:
                listed = f"(columns: {', '.join(file.columns)})"
                told = f"has no column {', '.join(lacking)} {listed}"
                yield Finding("data", name, "problem", told)
            elif key == FILE_KEYS[0] and isinstance(batch, int) and file.rows < batch:
                told = f"{file.rows:,} rows are no batch of data.train_batch_size={batch}"
                yield Finding("data", name, "problem", told)
            else:
                listed = ", ".join(
                    f"{d or '(none)'} {n:,}" for d, n in sorted(counts.items(), key=str)
                )
                told = f"{file.rows:,} rows" + (f"; {domain_key}: {listed}" if listed else "")
                yield Finding("data", name, "ok", told)


def _elsewhere(key: str, name: str) -> Finding:
    path = Path(name).expanduser()
    if "://" in name:
        return Finding("data", name, "skipped", f"{key}: is not on this machine")
    if not path.exists():
        return Finding("data", name, "problem", f"{key}: no such file on this machine")
    return Finding("data", name, "skipped", f"{key}: is no parquet file; was not looked at")


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _versions() -> Iterator[Finding]:
    yield Finding("versions", "python", "ok", platform.python_version())
    yield Finding("versions", "dataflex-data", "ok", __version__)
    install = 'pip install "dataflex-data[verl]"'
    verl = _version("verl")
    if verl is None:
        yield Finding("versions", "verl", "problem", f"is not installed; {install}")
    elif verl.startswith("0.9."):
        proven = "" if verl == "0.9.1" else " (0.9.1 is the one that is tested)"
        yield Finding("versions", "verl", "ok", verl + proven)
    elif verl.startswith("0.7."):
        yield Finding("versions", "verl", "problem", f"{verl}: mixing only, untested; use 0.9.1")
    else:
        yield Finding(
            "versions", "verl", "problem", f'{verl} is not supported; pip install "verl==0.9.1"'
        )
    for name, needed in (
        ("torch", True),
        ("ray", True),
        ("TransferQueue", True),
        ("tensordict", True),
        ("torchdata", True),
        ("transformers", True),
        ("vllm", False),
        ("sglang", False),
    ):
        held = _version(name)
        if held is not None:
            yield Finding("versions", name, "ok", held)
        elif needed:
            yield Finding("versions", name, "problem", f"is not installed; {install}")
        else:
            yield Finding("versions", name, "skipped", "is not installed (one rollout engine is)")


def _plugin(
    installed: bool, say: Callable[[str], None], *, processes: bool, ray: bool
) -> Iterator[Finding]:
    mine = [point for point in entry_points(group="verl.plugins") if point.value == ENTRY_POINT]
    if mine:
        yield Finding("plugin", "entry point", "ok", f"verl.plugins: {mine[0].name}")
    else:
        yield Finding(
            "plugin",
            "entry point",
            "problem",
            "this environment's metadata name no verl plugin of ours; reinstall with "
            "pip install dataflex-data (a checkout: pip install -e .)",
        )
    policy = os.environ.get("VERL_USE_EXTERNAL_PLUGINS", "auto").strip().lower()
    if mine and policy != "auto" and mine[0].name not in policy.split(","):
        yield Finding(
            "plugin",
            "VERL_USE_EXTERNAL_PLUGINS",
            "problem",
            f"is {policy!r}, so that verl does not load us; unset it or add {mine[0].name}",
        )
    for what, code, wanted in (
        ("fresh process", _PROBE, processes),
        ("Ray worker", _RAY_PROBE, processes and ray),
    ):
        if not installed or not wanted:
            yield Finding("plugin", what, "skipped", "was not looked at")
        else:
            say(f"starting a {what} to see what is registered there ...")
            yield _registration(what, code)


def _registration(what: str, code: str) -> Finding:
    try:
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Finding("plugin", what, "problem", f"gave no answer in {_TIMEOUT_S} s")
    line = next((x for x in done.stdout.splitlines() if x.startswith("DOCTOR")), None)
    if line is None:
        lines = done.stderr.strip().splitlines() or ["no output"]
        return Finding("plugin", what, "problem", f"failed: {lines[-1]}")
    names = json.loads(line.removeprefix("DOCTOR"))
    missing = [name for name in TRAINER_MODES if name not in names]
    if not missing:
        return Finding("plugin", what, "ok", f"trainers: {', '.join(names)}")
    said = [x for x in done.stderr.splitlines() if "dataflex" in x]
    reason = f" ({said[-1].strip()})" if said else ""
    return Finding(
        "plugin", what, "problem", f"{', '.join(missing)} is not registered there{reason}"
    )
