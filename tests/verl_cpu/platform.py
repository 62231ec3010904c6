"""A platform named ``cpu`` for verl's registry."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

import psutil  # type: ignore[import-untyped]
import torch
from verl.plugin.platform.platform_base import PlatformBase
from verl.plugin.platform.platform_manager import PlatformRegistry


class _TorchCpu(ModuleType):
    """`torch.cpu`, with the calls of `torch.cuda` that verl makes without asking."""

    def __getattr__(self, name: str) -> Any:
        return getattr(torch.cpu, name)


def _used_bytes(*_: object) -> int:
    return int(psutil.Process().memory_info().rss)


def _nothing(*_: object, **__: object) -> None:
    return None


_module = _TorchCpu("tests.verl_cpu.torch_cpu")
_module.__dict__.update(
    is_available=lambda: False,  # keeps verl from branches that only a device has
    current_device=lambda: "cpu",
    device_count=lambda: 1,
    set_device=_nothing,
    empty_cache=_nothing,
    synchronize=_nothing,
    reset_peak_memory_stats=_nothing,
    memory_allocated=_used_bytes,
    memory_reserved=_used_bytes,
    max_memory_allocated=_used_bytes,
    max_memory_reserved=_used_bytes,
    mem_get_info=lambda *_: (psutil.virtual_memory().available, psutil.virtual_memory().total),
    get_device_name=lambda *_: "CPU",
    get_device_properties=lambda *_: SimpleNamespace(total_memory=psutil.virtual_memory().total),
    manual_seed=torch.manual_seed,
    manual_seed_all=torch.manual_seed,
    get_rng_state=torch.get_rng_state,
    set_rng_state=torch.set_rng_state,
)


@PlatformRegistry.register(platform="cpu")
class PlatformCPU(PlatformBase):  # type: ignore[misc]
    """One device, the CPU."""

    device_name = "cpu"
    vendor_name = "cpu"
    device_module = _module

    def is_available(self) -> bool:
        return True

    def is_platform_available(self, use_smi_check: bool = False) -> bool:
        return os.environ.get("VERL_PLATFORM", "").lower() == "cpu"

    def current_device(self) -> str:
        return "cpu"  # a number would make tensor.to(get_device_id()) mean cuda:<number>

    def device_count(self) -> int:
        return 1

    def set_device(self, device_index: int) -> None:
        return None

    def synchronize(self, device_index: int | None = None) -> None:
        return None

    def manual_seed(self, seed: int) -> None:
        torch.manual_seed(seed)

    def manual_seed_all(self, seed: int) -> None:
        torch.manual_seed(seed)

    def set_allocator_settings(self, settings: str) -> None:
        return None

    def empty_cache(self) -> None:
        return None

    def get_device_capability(self, device_index: int = 0) -> tuple[None, None]:
        return None, None

    def communication_backend_name(self) -> str:
        return "gloo"

    def visible_devices_envvar(self) -> str:
        return "CUDA_VISIBLE_DEVICES"

    @contextmanager
    def nvtx_range(self, msg: str) -> Iterator[None]:
        yield

    def profiler_start(self) -> None:
        return None

    def profiler_stop(self) -> None:
        return None

    def ray_resource_name(self) -> str:
        # verl counts only "GPU" and "NPU"; Ray's GPU resource is a number and needs no hardware.
        return "GPU"

    def ray_noset_envvars(self) -> list[str]:
        return ["RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES"]

    def is_ipc_supported(self) -> bool:
        return False

    def cudart(self) -> None:
        return None
