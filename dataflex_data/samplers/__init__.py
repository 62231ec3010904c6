"""Domain samplers: exact quotas by mixers that may change their proportions at every step.

`DataFlexSampler` needs torch (extra ``torch``); everything else here runs without it, so that a
mixture can be simulated and audited anywhere.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataflex_data.samplers.domain_index import DomainIndex as DomainIndex
    from dataflex_data.samplers.domain_sampler import DataFlexSampler as DataFlexSampler
    from dataflex_data.samplers.domain_tracker import DomainStats as DomainStats
    from dataflex_data.samplers.domain_tracker import DomainTracker as DomainTracker
    from dataflex_data.samplers.mixer import MIXERS as MIXERS
    from dataflex_data.samplers.mixer import Mixer as Mixer
    from dataflex_data.samplers.mixer import MixerParams as MixerParams
    from dataflex_data.samplers.mixer import build_mixer as build_mixer
    from dataflex_data.samplers.planner import MixtureWarning as MixtureWarning
    from dataflex_data.samplers.signals import StepSignals as StepSignals
    from dataflex_data.samplers.steering import SteeringRules as SteeringRules
    from dataflex_data.samplers.stream import MixtureStream as MixtureStream

_HOMES = {
    "DataFlexSampler": "dataflex_data.samplers.domain_sampler",
    "DomainIndex": "dataflex_data.samplers.domain_index",
    "DomainStats": "dataflex_data.samplers.domain_tracker",
    "DomainTracker": "dataflex_data.samplers.domain_tracker",
    "MIXERS": "dataflex_data.samplers.mixer",
    "Mixer": "dataflex_data.samplers.mixer",
    "MixerParams": "dataflex_data.samplers.mixer",
    "MixtureWarning": "dataflex_data.samplers.planner",
    "SteeringRules": "dataflex_data.samplers.steering",
    "MixtureStream": "dataflex_data.samplers.stream",
    "StepSignals": "dataflex_data.samplers.signals",
    "build_mixer": "dataflex_data.samplers.mixer",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return list(__all__)
