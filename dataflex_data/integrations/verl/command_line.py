"""verl's configuration of a run, from its command line or its YAML, before anything is started."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dataflex_data.core.config import load_yaml
from dataflex_data.core.errors import ConfigError, InputDataError, MissingExtraError
from dataflex_data.integrations.verl.settings import get, plain

_CONFIG_MODULE = "verl.trainer.config"
_MODULES = ("main_ppo.py", "verl.trainer.main_ppo")
_OPTIONS = {"--config-path": "folder", "-cp": "folder", "--config-name": "name", "-cn": "name"}
_ESSENTIAL = (
    "trainer.v1.trainer_mode",
    "algorithm.adv_estimator",
    "data.train_files",
    "data.train_batch_size",
    "actor_rollout_ref.rollout.n",
)


def read_config(words: Sequence[str], path: Path | None) -> dict[str, Any] | None:
    """Return verl's configuration of a command line, or of a YAML file.

    Args:
        words: As given to ``main_ppo``, such as ``data.train_batch_size=64`` or ``--config-name``;
            what starts Python and the module may stand before them.
        path: A whole configuration as Hydra writes it (``.hydra/config.yaml``), or one with
            `defaults`, which is composed, together with ``words``.

    Raises:
        ConfigError: Both, an override that verl's configuration does not take, or environment
            variables that it reads and that are not set.
        InputDataError: The file cannot be read.
        MissingExtraError: verl is not installed.
    """
    line = _command_line(words)
    if path is None:
        return _composed(line) if words else None
    written = load_yaml(path)
    if "defaults" in written:
        if line.folder or line.name:
            raise ConfigError("doctor", ["give --config or --config-name, not both"])
        whole = path.expanduser().resolve()
        return _composed(CommandLine(line.overrides, str(whole.parent), whole.stem))
    if words:
        raise ConfigError("doctor", [f"{path} is a whole configuration: give no overrides with it"])
    lacking = [key for key in _ESSENTIAL if get(written, key) is None]
    if lacking:
        raise ConfigError(
            str(path),
            [
                f"is not verl's whole configuration, as Hydra saves it: {', '.join(lacking)} "
                "not there. Give the run's .hydra/config.yaml, or its command line after `--`"
            ],
        )
    return _resolved(written)


@dataclass(frozen=True, slots=True)
class CommandLine:
    """What the words of a run say.

    Attributes:
        overrides: KEY=VALUE, as Hydra reads them.
        folder: Of the configuration; verl's own by default.
        name: Of the configuration; verl's own by default.
    """

    overrides: tuple[str, ...]
    folder: str | None = None
    name: str | None = None


def _command_line(words: Sequence[str]) -> CommandLine:
    start = [at for at, word in enumerate(words) if word.split("/")[-1] in _MODULES]
    rest = list(words[start[0] + 1 :] if start else words)
    given: dict[str, str] = {}
    overrides: list[str] = []
    wrong: list[str] = []
    while rest:
        word = rest.pop(0)
        option, _, value = word.partition("=")
        if option in _OPTIONS:
            if not value and not rest:
                wrong.append(f"{option} needs a value")
                continue
            given[_OPTIONS[option]] = value or rest.pop(0)
        elif "=" not in word and not word.startswith("~"):
            wrong.append(f"{word!r} is no override KEY=VALUE")
        elif not option.lstrip("+").startswith("hydra."):
            overrides.append(word)
    folder = given.get("folder")
    if folder is not None and not (Path(folder).is_absolute() or folder.startswith("pkg://")):
        wrong.append(
            f"--config-path {folder}: Hydra reads it relative to verl's own files; write it whole, "
            f'such as "$PWD/{folder}"'
        )
    if wrong:
        raise ConfigError("doctor", wrong)
    return CommandLine(tuple(overrides), folder, given.get("name"))


def _resolved(written: dict[str, Any]) -> dict[str, Any]:
    """Return a saved configuration with what its values refer to in their place."""
    if find_spec("omegaconf") is None:
        return written
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    try:
        resolved: dict[str, Any] = plain(OmegaConf.create(written))
    except OmegaConfBaseException as error:
        raise ConfigError("verl configuration", [" ".join(str(error).split())]) from None
    return resolved


def _composed(line: CommandLine) -> dict[str, Any]:
    if find_spec("verl") is None:
        raise MissingExtraError("verl", "verl", "reading verl's configuration")
    from hydra import compose, initialize_config_dir, initialize_config_module
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    folder = line.folder or f"pkg://{_CONFIG_MODULE}"
    begin: Any = initialize_config_dir
    if folder.startswith("pkg://"):
        begin, folder = initialize_config_module, folder.removeprefix("pkg://").replace("/", ".")
    try:
        with begin(folder, version_base=None):
            composed = compose(line.name or "ppo_trainer", overrides=list(line.overrides))
        config = plain(composed)
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError("verl configuration", [" ".join(str(error).split())]) from None
    if not isinstance(config, dict):
        raise InputDataError("verl's configuration is no mapping")
    return {str(key): value for key, value in config.items()}
