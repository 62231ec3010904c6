"""What `dfdata doctor` looks at: versions, registration, a run's configuration and data."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path
from typing import Any, Literal, TypeAlias

from dataflex_data import __version__
from dataflex_data.core.config import load_yaml
from dataflex_data.core.errors import ConfigError, InputDataError, MissingExtraError
from dataflex_data.integrations.verl.checks import problems
from dataflex_data.integrations.verl.settings import TRAINER_MODES

State: TypeAlias = Literal["ok", "problem", "skipped"]
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


def examine(config: Mapping[str, Any] | None, *, processes: bool, ray: bool) -> Iterator[Finding]:
    """Yield all findings.

    Args:
        config: verl's whole configuration of a run; ``None`` where none was given.
        processes: Look at a fresh process.
        ray: Look at a Ray worker too.
    """
    yield from _versions()
    installed = _version("verl") is not None
    yield from _plugin(installed, processes=processes, ray=ray)
    if config is None:
        return
    found = list(problems(config))
    for problem in found:
        yield Finding("configuration", "run", "problem", problem)
    if not found:
        yield Finding("configuration", "run", "ok", "can be carried out as written")


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


def _plugin(installed: bool, *, processes: bool, ray: bool) -> Iterator[Finding]:
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


def read_config(overrides: Sequence[str], path: Path | None) -> dict[str, Any] | None:
    """Return verl's configuration from a command line's overrides, or from a YAML file.

    Args:
        overrides: As given to ``main_ppo``, such as ``data.train_batch_size=64``.
        path: A whole configuration as Hydra writes it (``.hydra/config.yaml``).

    Raises:
        ConfigError: Both, or an override that verl's configuration does not take.
        InputDataError: The file cannot be read.
        MissingExtraError: verl is not installed.
    """
    if path is not None and overrides:
        raise ConfigError("doctor", ["give --config or overrides, not both"])
    if path is not None:
        return load_yaml(path)
    if not overrides:
        return None
    wrong = [text for text in overrides if "=" not in text]
    if wrong:
        raise ConfigError("doctor", [f"{text!r} is no override KEY=VALUE" for text in wrong])
    if _version("verl") is None:
        raise MissingExtraError("verl", "verl", "reading verl's configuration")
    from hydra import compose, initialize_config_module
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    kept = [text for text in overrides if not text.startswith("hydra.")]
    try:
        with initialize_config_module("verl.trainer.config", version_base=None):
            composed = compose("ppo_trainer", overrides=kept)
        config = OmegaConf.to_container(composed, resolve=True)
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError("verl configuration", [" ".join(str(error).split())]) from None
    if not isinstance(config, dict):
        raise InputDataError("verl's configuration is no mapping")
    return {str(key): value for key, value in config.items()}
