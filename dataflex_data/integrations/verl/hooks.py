"""What is changed in verl once its trainers are imported: our trainer, and two guards.

Each guard stands where verl would otherwise ignore a request in silence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from verl.trainer.ppo.v1 import trainer_base

from dataflex_data.integrations.verl.checks import require_possible
from dataflex_data.integrations.verl.settings import TRAINER_MODES
from dataflex_data.integrations.verl.trainer import DataFlexTrainer


def install() -> None:
    """Register the trainer and put up the guards; does nothing the second time."""
    for name in TRAINER_MODES:
        trainer_base.register_trainer(name)(DataFlexTrainer)
    if not hasattr(trainer_base.create_rl_sampler, "__wrapped__"):
        trainer_base.create_rl_sampler = honouring_data_sampler(trainer_base.create_rl_sampler)
        trainer_base.PPOTrainer.__init__ = checking(trainer_base.PPOTrainer.__init__)


def honouring_data_sampler(create: Callable[..., Any]) -> Callable[..., Any]:
    """Return verl's sampler factory, which in 0.9 ignores ``data.sampler``, made to honour it."""

    def create_rl_sampler(data_config: Any, dataset: Any) -> Any:  # noqa: ANN401 - verl's
        wanted = data_config.get("sampler", None)
        if not wanted or not wanted.get("class_path", None):
            return create(data_config, dataset)
        from verl.utils.import_utils import load_extern_object

        kind = load_extern_object(wanted.class_path, wanted.class_name)
        return kind(data_source=dataset, data_config=data_config)

    create_rl_sampler.__wrapped__ = create  # type: ignore[attr-defined]
    return create_rl_sampler


def checking(build: Callable[..., None]) -> Callable[..., None]:
    """Return a trainer's constructor with our checks before it.

    They run before Ray too, but not for a configuration that was built in another process.
    """

    def __init__(self: Any, config: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401, N807
        require_possible(config)
        build(self, config, *args, **kwargs)

    return __init__
