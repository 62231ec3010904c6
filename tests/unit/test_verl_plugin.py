"""The entry point: what it says where it cannot work, and what it leaves alone."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import logging
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from dataflex_data.core.errors import ConfigError
from dataflex_data.integrations.verl import plugin

CONFIG = "verl.utils.config"
MODE = "dataflex_sync"


@pytest.fixture
def verl(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A stand-in for verl, of a version that the test sets."""
    fake, config = ModuleType("verl"), ModuleType(CONFIG)
    fake.__version__ = "0.9.1"  # type: ignore[attr-defined]
    config.validate_config = lambda *_, **__: None  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "verl", fake)
    monkeypatch.setitem(sys.modules, CONFIG, config)
    for name in [name for name in sys.modules if name.startswith(plugin.TRAINERS)]:
        monkeypatch.delitem(sys.modules, name)
    finders = list(sys.meta_path)
    yield fake
    sys.meta_path[:] = finders


def ours() -> list[Any]:
    return [finder for finder in sys.meta_path if isinstance(finder, plugin._AfterImport)]


@pytest.mark.parametrize("version", ["0.8.0", "0.10.0", "1.0", "0.90.1"])
def test_another_version_is_refused_at_error_with_the_remedy(
    verl: ModuleType, version: str, caplog: pytest.LogCaptureFixture
) -> None:
    verl.__version__ = version  # type: ignore[attr-defined]
    plugin.activate()
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert version in record.getMessage()
    assert 'pip install "verl==0.9.1"' in record.getMessage()
    assert not ours()


@pytest.mark.parametrize(
    "asking", [{"dataflex": {"mechanism": "none"}}, {"trainer": {"v1": {"trainer_mode": MODE}}}]
)
def test_under_another_version_only_runs_that_ask_for_us_are_stopped(
    verl: ModuleType, asking: dict[str, Any]
) -> None:
    seen: list[Any] = []
    config = sys.modules[CONFIG]
    config.validate_config = lambda *given, **_: seen.append(given)  # type: ignore[attr-defined]
    verl.__version__ = "0.10.0"  # type: ignore[attr-defined]
    plugin.activate()
    plugin.activate()
    config.validate_config({"trainer": {"v1": {"trainer_mode": "sync"}}})
    assert len(seen) == 1
    with pytest.raises(ConfigError, match=r"does not work with verl 0\.10\.0"):
        config.validate_config(asking)
    assert len(seen) == 1


def test_under_071_nothing_is_hooked_and_nothing_said(
    verl: ModuleType, caplog: pytest.LogCaptureFixture
) -> None:
    verl.__version__ = "0.7.1"  # type: ignore[attr-defined]
    plugin.activate()
    assert not caplog.records
    assert not ours()


def test_trainers_are_registered_when_they_are_imported_and_not_before(
    verl: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    monkeypatch.setattr(plugin, "register_trainers", lambda: calls.append("registered"))
    plugin.activate()
    plugin.activate()
    (finder,) = ours()
    assert calls == []

    class Loader(importlib.abc.Loader):
        def exec_module(self, module: ModuleType) -> None:
            calls.append("imported")

    real = importlib.machinery.ModuleSpec(plugin.TRAINERS, Loader())
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: real)
    assert finder.find_spec("verl.other", None) is None
    spec = finder.find_spec(plugin.TRAINERS, None)
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(ModuleType(plugin.TRAINERS))
    assert calls == ["imported", "registered"]
    assert not ours()  # once


def test_a_registration_that_fails_says_so_at_error(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(name: str) -> ModuleType:
        raise ImportError(f"no part {name}")

    monkeypatch.setattr(importlib, "import_module", broken)
    plugin.register_trainers()
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert "trainer_mode=dataflex_sync will be unknown" in record.getMessage()
    assert 'pip install "dataflex-data[verl]"' in record.getMessage()
    assert record.exc_info is not None


def test_verls_own_validation_comes_after_ours(verl: ModuleType) -> None:
    seen: list[Any] = []
    config = sys.modules[CONFIG]
    config.validate_config = lambda *given, **_: seen.append(given)  # type: ignore[attr-defined]
    plugin.activate()
    config.validate_config({"trainer": {"v1": {"trainer_mode": "sync"}}}, "more")
    assert seen == [({"trainer": {"v1": {"trainer_mode": "sync"}}}, "more")]
    with pytest.raises(ConfigError, match="trainer_mode=dataflex_sync"):
        config.validate_config(
            {"trainer": {"v1": {"trainer_mode": "sync"}}, "dataflex": {"mechanism": "none"}}
        )
    assert len(seen) == 1


def test_the_trainer_without_verl_names_the_extra() -> None:
    code = (
        "import sys; sys.modules.update({'torchdata': None, 'verl': None})\n"
        "from dataflex_data.core.errors import MissingExtraError\n"
        "try:\n    import dataflex_data.integrations.verl.trainer\n"
        "except MissingExtraError as error:\n    print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert 'pip install "dataflex-data[verl]"' in done.stdout
