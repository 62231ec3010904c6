"""What verl loads at ``import verl``: makes the trainer and the checks known, and nothing more.

verl loads the entry points of the group ``verl.plugins`` in every process, at the end of its own
import. So this module must be light: importing the trainer here would cost each Ray worker several
seconds, and fix verl's platform before other plugins have registered theirs. The trainer is
registered when verl's trainers are imported, by a hook on that import.

verl reports a plugin that fails at DEBUG only. What fails here says so itself, at ERROR.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import logging
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

TRAINERS = "verl.trainer.ppo.v1"
SUPPORTED = "0.9"
_LOG = logging.getLogger("dataflex_data.verl")


class _AfterImport(importlib.abc.MetaPathFinder):
    """Calls ``then`` once, after the module ``name`` has been imported."""

    def __init__(self, name: str, then: Callable[[], None]) -> None:
        self.name, self.then = name, then

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 - importlib's signature
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """Return the module's own spec, with a loader that calls ``then`` at the end."""
        if fullname != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is None or spec.loader is None:
            return None
        run = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            run(module)
            self.then()

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def register_trainers() -> None:
    """Register our trainers with verl and guard its stock ones; a failure is logged at ERROR."""
    try:
        importlib.import_module("dataflex_data.integrations.verl.hooks").install()
    except Exception:  # noqa: BLE001 - whatever it is, runs without us must go on
        _LOG.exception(
            "dataflex-data could not register its trainers with verl, so "
            "trainer.v1.trainer_mode=dataflex_sync will be unknown. Run `dfdata doctor`; "
            'reinstall with: pip install "dataflex-data[verl]"'
        )


def check_before_ray(validate: Callable[..., None]) -> Callable[..., None]:
    """Return verl's ``validate_config`` with our checks before it.

    verl calls it in the process that was started by the user, before Ray; what is refused there
    costs no GPU.
    """

    def validate_config(config: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - verl's
        from dataflex_data.integrations.verl.checks import require_possible

        require_possible(config)
        validate(config, *args, **kwargs)

    validate_config.__wrapped__ = validate  # type: ignore[attr-defined]
    return validate_config


def refuse_ours(validate: Callable[..., None], version: str) -> Callable[..., None]:
    """Return verl's ``validate_config`` of an unsupported version, refusing runs that ask for us.

    Others go on: such a version may well be installed for runs without us.
    """

    def validate_config(config: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - verl's
        mode = str(((config.get("trainer") or {}).get("v1") or {}).get("trainer_mode"))
        if config.get("dataflex") or mode.startswith("dataflex_"):
            from dataflex_data.core.errors import ConfigError

            raise ConfigError(
                "verl configuration",
                [
                    f"this run asks for dataflex-data, which does not work with verl {version}. "
                    'Install: pip install "verl==0.9.1"'
                ],
            )
        validate(config, *args, **kwargs)

    validate_config.__wrapped__ = validate  # type: ignore[attr-defined]
    return validate_config


def activate() -> None:
    """Install the hooks; does nothing the second time."""
    verl = sys.modules["verl"]
    version = str(getattr(verl, "__version__", "unknown"))
    if version.startswith("0.7."):
        return  # mixing only, through verl's own data.sampler; nothing to hook
    supported = version.startswith(f"{SUPPORTED}.")
    if not supported:
        _LOG.error(
            "dataflex-data works with verl %s.x (and mixes under 0.7.1), not with %s: its trainers "
            'are not registered. Install: pip install "verl==0.9.1"',
            SUPPORTED,
            version,
        )
    config_module = sys.modules.get("verl.utils.config")
    if config_module is None:
        config_module = importlib.import_module("verl.utils.config")
    if hasattr(config_module.validate_config, "__wrapped__"):
        return
    validate = config_module.validate_config
    if not supported:
        config_module.validate_config = refuse_ours(validate, version)  # type: ignore[attr-defined]
        return
    config_module.validate_config = check_before_ray(validate)  # type: ignore[attr-defined]
    if TRAINERS in sys.modules:
        register_trainers()
    else:
        sys.meta_path.insert(0, _AfterImport(TRAINERS, register_trainers))


if "verl" in sys.modules:  # imported by verl, and not by a test or the doctor
    try:
        activate()
    except Exception:
        _LOG.exception(
            "dataflex-data could not hook into verl; its trainers are not registered. "
            "Run `dfdata doctor`"
        )
        raise
