"""Named in ``VERL_USE_EXTERNAL_MODULES``: makes the doubles known in every process of a run.

verl imports the modules named there at the end of ``import verl``, also in Ray workers.
"""

from __future__ import annotations

import os
from typing import Any

if os.environ.get("VERL_PLATFORM", "").lower() == "cpu":
    import torch
    import verl.utils.distributed as verl_distributed

    from tests.verl_cpu import platform  # noqa: F401 - registers the platform

    _initialise = verl_distributed.initialize_global_process_group_ray

    def _gloo(timeout_second: int | None = None, backend: str | None = None) -> Any:
        # verl asks for "cpu:gloo,<device>:<backend>", which torch refuses where the device is cpu.
        return _initialise(timeout_second=timeout_second, backend=backend or "cpu:gloo")

    verl_distributed.initialize_global_process_group_ray = _gloo

    if not torch.cuda.is_available():
        # The reference model asks for pinned memory, and there is nothing to pin for.
        torch.Tensor.pin_memory = lambda self, *_, **__: self  # type: ignore[method-assign]
