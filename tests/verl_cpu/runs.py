"""Command line, environment and in-process sessions of a run on the CPU."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
PLUGIN = "dataflex_data.integrations.verl.plugin"


def environment() -> dict[str, str]:
    """Return what a CPU run needs in its environment, to be added to the present one."""
    path = os.pathsep.join(filter(None, (str(REPOSITORY), os.environ.get("PYTHONPATH", ""))))
    return {
        "PYTHONPATH": path,
        "VERL_USE_EXTERNAL_MODULES": "tests.verl_cpu.autoload",
        "VERL_PLATFORM": "cpu",
        "VERL_ENGINE_DEVICE": "cuda",
        "OMP_NUM_THREADS": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_OFFLINE": "1",
        "HYDRA_FULL_ERROR": "1",
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
        "TRANSFER_QUEUE_ENABLE": "1",
        "TRANSFORMERS_VERBOSITY": "error",
    }


def overrides(folder: Path, mode: str, *, devices: int = 1) -> list[str]:
    """Return Hydra overrides for the tiny model in ``folder``; later ones win."""
    return [
        f"trainer.v1.trainer_mode={mode}",
        "trainer.device=cpu",
        f"trainer.n_gpus_per_node={devices}",
        "trainer.nnodes=1",
        "trainer.logger=[console]",
        "trainer.project_name=dataflex",
        "trainer.experiment_name=cpu",
        f"trainer.default_local_dir={folder}/checkpoints",
        "trainer.resume_mode=auto",
        "trainer.save_freq=-1",
        "trainer.test_freq=-1",
        "trainer.val_before_train=False",
        "trainer.total_epochs=1000",
        "trainer.total_training_steps=2",
        "algorithm.adv_estimator=grpo",
        "algorithm.use_kl_in_reward=False",
        f"data.train_files={folder}/train.parquet",
        f"data.val_files={folder}/test.parquet",
        "data.train_batch_size=4",
        "data.max_prompt_length=64",
        "data.max_response_length=16",
        "data.dataloader_num_workers=0",
        "data.seed=1",
        f"actor_rollout_ref.model.path={folder}/model",
        "actor_rollout_ref.model.external_lib=tests.verl_cpu.rollout",
        "actor_rollout_ref.model.use_remove_padding=False",
        "actor_rollout_ref.model.enable_gradient_checkpointing=False",
        "+actor_rollout_ref.model.override_config.attn_implementation=eager",
        "actor_rollout_ref.actor.strategy=fsdp2",
        "actor_rollout_ref.actor.ppo_mini_batch_size=4",
        "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4",
        "actor_rollout_ref.actor.use_dynamic_bsz=False",
        "actor_rollout_ref.actor.use_torch_compile=False",
        "actor_rollout_ref.actor.use_kl_loss=False",
        "actor_rollout_ref.actor.optim.lr=3e-3",
        "actor_rollout_ref.actor.fsdp_config.model_dtype=fp32",
        "+actor_rollout_ref.actor.fsdp_config.mixed_precision.param_dtype=fp32",
        "actor_rollout_ref.actor.fsdp_config.use_torch_compile=False",
        "actor_rollout_ref.rollout.name=hfcpu",
        "actor_rollout_ref.rollout.n=4",
        "actor_rollout_ref.rollout.tensor_model_parallel_size=1",
        "actor_rollout_ref.rollout.agent.num_workers=1",
        "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=4",
        "reward.num_workers=1",
        f"reward.custom_reward_function.path={REPOSITORY}/tests/verl_cpu/rewards.py",
        "transfer_queue.backend.SimpleStorage.num_data_storage_units=1",
        "transfer_queue.backend.SimpleStorage.total_storage_size=1000",
        "ray_kwargs.ray_init.num_cpus=16",
        f"+ray_kwargs.ray_init.num_gpus={devices}",
        "+ray_kwargs.ray_init.include_dashboard=False",
        "+ray_kwargs.ray_init.object_store_memory=300000000",
    ]


def main_ppo(folder: Path, mode: str, extra: Sequence[str] = (), *, devices: int = 1) -> list[str]:
    """Return the command line of a whole run."""
    return [
        sys.executable,
        "-m",
        "verl.trainer.main_ppo",
        f"hydra.run.dir={folder}/hydra",
        *overrides(folder, mode, devices=devices),
        *extra,
    ]


def compose(folder: Path, mode: str, extra: Sequence[str] = (), *, devices: int = 1) -> Any:
    """Return verl's configuration as ``main_ppo`` would get it."""
    from hydra import compose as hydra_compose
    from hydra import initialize_config_module
    from omegaconf import OmegaConf

    with initialize_config_module("verl.trainer.config", version_base=None):
        config = hydra_compose(
            "ppo_trainer", overrides=[*overrides(folder, mode, devices=devices), *extra]
        )
    config.transfer_queue.enable = True
    OmegaConf.resolve(config)
    return config


@contextmanager
def ray_session(devices: int = 2) -> Iterator[None]:
    """Bring Ray up in this process with the CPU environment, and down again."""
    import ray
    from verl.trainer.constants_ppo import get_ppo_ray_runtime_env

    runtime = get_ppo_ray_runtime_env(None)
    runtime["env_vars"] = {**runtime.get("env_vars", {}), **environment()}
    ray.init(
        num_cpus=16,
        num_gpus=devices,
        include_dashboard=False,
        object_store_memory=300_000_000,
        runtime_env=runtime,
        log_to_driver=bool(os.environ.get("DFDATA_TEST_RAY_LOGS")),
    )
    try:
        yield
    finally:
        ray.shutdown()


@contextmanager
def trainer_session(config: Any) -> Iterator[tuple[Any, Any]]:
    """Build trainer and agent loop in this process as verl's task runner does; end them after."""
    import ray
    import transfer_queue
    from ray.util.placement_group import remove_placement_group
    from verl.trainer.ppo.v1 import AgentLoopManagerTQ, get_trainer_cls

    transfer_queue.init(config.transfer_queue)
    trainer = get_trainer_cls(config.trainer.v1.trainer_mode)(config=config)
    trainer.init()
    trainer.replay_buffer.poll_interval = 0.05
    manager = AgentLoopManagerTQ.create(
        config=config,
        llm_client=trainer.get_llm_client(),
        teacher_client=trainer.get_teacher_client(),
        reward_loop_worker_handles=trainer.get_reward_handles(),
    )
    try:
        yield trainer, manager
    finally:
        for actor in (
            *trainer.llm_server_manager.server_handles,
            *manager.agent_loop_workers,
            *trainer.reward_loop_manager.reward_loop_workers,
            *trainer.actor_rollout_wg.workers,
        ):
            ray.kill(actor)
        for pool in trainer.resource_pool_manager.resource_pool_dict.values():
            for group in pool.pgs or []:
                remove_placement_group(group)
        transfer_queue.close()
