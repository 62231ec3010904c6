"""`DataFlexSampler` for verl's dataset: the mixture of a run, from its configuration.

Two ways lead here. ``dataflex.mechanism=mix`` under our trainer takes any mixer. And
``data.sampler.class_path=pkg://dataflex_data.integrations.verl.sampler`` with
``class_name=DataFlexSampler`` takes static mixtures under verl's stock trainer, or under verl
0.7.1, whose factory calls the class itself.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from dataflex_data.core.errors import InputDataError, MixtureError, did_you_mean
from dataflex_data.integrations.verl.settings import MixSettings, plain, sampler_settings
from dataflex_data.samplers import domain_sampler
from dataflex_data.samplers.signals import StepCounts, StepSignals
from dataflex_data.samplers.state import without_unreported


def labels_of(dataset: Any, domain_key: str) -> list[str]:  # noqa: ANN401 - verl's dataset
    """Return the domain of each row of verl's dataset, after its filtering.

    Raises:
        InputDataError: There is no such column, or a row has no domain.
    """
    frame = getattr(dataset, "dataframe", None)
    if frame is None:
        raise InputDataError(
            f"the dataset {type(dataset).__name__} has no `dataframe`; a mixture needs verl's "
            "RLHFDataset, or a class with that attribute"
        )
    names = list(frame.column_names)
    column, *inner = domain_key.split(".")
    if column not in names:
        raise InputDataError(
            f"the training data have no column {domain_key!r} to mix by"
            f"{did_you_mean(column, names)} (columns: {', '.join(names)}). Build them with "
            "`dfdata build`, or name the column: +dataflex.domain_key=COLUMN"
        )
    values = list(frame[column])
    for key in inner:
        values = [value[key] for value in values]
    empty = next((row for row, value in enumerate(values) if value in (None, "")), None)
    if empty is not None:
        raise InputDataError(f"row {empty} of the training data has no {domain_key!r}")
    return [str(value) for value in values]


def arguments(
    dataset: Any,  # noqa: ANN401 - verl's dataset
    data_config: Mapping[str, Any],
    mix: MixSettings,
) -> dict[str, Any]:
    """Return the sampler's arguments for a run of verl."""
    return {
        "data_source": labels_of(dataset, mix.domain_key),
        "batch_size": int(data_config["train_batch_size"]),
        "mixer": mix.actuator.name,
        "mixer_params": mix.actuator.params,
        "seed": mix.seed if mix.seed is not None else int(data_config.get("seed") or 0),
        "domains": mix.domains,
        "max_epochs": mix.max_epochs,
        "warmup_steps": mix.warmup_step,
        "update_every": mix.update_step,
        "on_inert": mix.on_inert,
        "on_change": mix.on_change,
    }


def build_sampler(
    dataset: Any,  # noqa: ANN401 - verl's dataset
    data_config: Mapping[str, Any],
    mix: MixSettings,
) -> domain_sampler.DataFlexSampler:
    """Return the sampler of a run, checked against verl's data loader.

    Raises:
        InputDataError: The data lack domains, or are too few for a batch.
        ConfigError: The mixer's parameters are wrong.
        MixtureError: The data loader has workers and the mixer is adaptive.
    """
    sampler = domain_sampler.DataFlexSampler(**arguments(dataset, data_config, mix))
    sampler.check_loader(int(data_config.get("dataloader_num_workers") or 0))
    return sampler


# Present where verl 0.7.1 imported it before it asks for the sampler; 0.9 has no such module.
_CURRICULUM = getattr(
    sys.modules.get("verl.experimental.dataset.sampler"), "AbstractCurriculumSampler", None
)
_BASES: tuple[Any, ...] = () if _CURRICULUM is None else (_CURRICULUM,)


class DataFlexSampler(domain_sampler.DataFlexSampler, *_BASES):  # type: ignore[misc]
    """The sampler as verl's ``data.sampler`` names it: built from the data configuration alone.

    Keys stand under ``data.sampler``: ``class_path``, ``class_name``, and those of `MixSettings`.
    verl 0.7.1 reports every batch by `update`, so that any mixer works there; verl 0.9 never does.

    Args:
        data_source: verl's dataset.
        data_config: verl's ``data`` configuration.

    Raises:
        MixtureError: The mixer is adaptive, and nothing here would feed it.
    """

    def __init__(self, data_source: Any, data_config: Any) -> None:  # noqa: ANN401 - verl's
        data = plain(data_config)
        settings = sampler_settings(data.get("sampler") or {})
        super().__init__(**arguments(data_source, data, settings))
        self.domain_key = settings.domain_key
        mixer = self.stream.mixer
        if mixer.adaptive and _CURRICULUM is None:
            raise MixtureError(
                f"data.sampler with the adaptive mixer {mixer.name!r}: verl's trainer never tells "
                "a sampler about rewards, so it would never move. Use our trainer instead: "
                "trainer.v1.trainer_mode=dataflex_sync +dataflex.mechanism=mix "
                f"+dataflex.actuator.name={mixer.name}"
            )

    def update(self, batch: Any) -> StepCounts:  # noqa: ANN401 - verl 0.7.1's DataProto
        """Tell the mixer what became of a batch, given as signals or as verl 0.7.1's batch."""
        if not hasattr(batch, "non_tensor_batch"):
            return super().update(batch)
        tensors, others = batch.batch, batch.non_tensor_batch
        column, *inner = self.domain_key.split(".")
        domains = list(others[column])
        for key in inner:
            domains = [value[key] for value in domains]
        mask = tensors["response_mask"]
        lengths = mask.sum(-1)
        sizes = (tensors["advantages"].abs() * mask).sum(-1) / lengths.clamp(min=1)
        return super().update(
            StepSignals(
                domains=[str(domain) for domain in domains],
                uids=list(others["uid"]),
                rewards=tensors["token_level_scores"].sum(-1).double().numpy(),
                advantages=sizes.double().numpy(),
                lengths=lengths.numpy(),
            )
        )

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue where ``state_dict`` stands.

        verl 0.7.1 saves before it reports, so that the report of the batch before the checkpoint
        is lost in a resume; it is not waited for.
        """
        super().load_state_dict(without_unreported(state_dict))
