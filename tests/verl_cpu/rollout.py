"""A rollout backend named ``hfcpu``: a Hugging Face model in an actor, fed by verl's weight sync.

Named in ``actor_rollout_ref.model.external_lib``, so that every worker imports it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import ray
import torch
from verl.workers.rollout.base import _ROLLOUT_REGISTRY, BaseRollout
from verl.workers.rollout.replica import RolloutReplica, RolloutReplicaRegistry, TokenOutput

from dataflex_data.core.seeding import keyed_hash

NAME = "hfcpu"


@ray.remote(num_cpus=0.1)
class HFCpuServer:
    """Tokens in, tokens out.

    Sampling is a function of seed, version of the weights, prompt and how often it was asked, so
    that a run that is resumed gets the responses of one that was not interrupted.

    ``misreport`` is taken from the log-prob of every other token id, for rollout correction to have
    something to correct.
    """

    def __init__(
        self, model_path: str, response_length: int, seed: int, misreport: float = 0.0
    ) -> None:
        torch.set_num_threads(1)
        from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

        torch.manual_seed(seed)
        config = AutoConfig.from_pretrained(model_path)
        self.model = AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
        self.eos = AutoTokenizer.from_pretrained(model_path).eos_token_id
        self.response_length = response_length
        self.seed, self.misreport = seed, misreport
        self.asked: Counter[tuple[int, ...]] = Counter()
        self.global_steps: int | None = None
        self.loads = 0

    async def load_weights(
        self, weights: dict[str, torch.Tensor], global_steps: int | None = None
    ) -> None:
        missing, unexpected = self.model.load_state_dict(weights, strict=False)
        missing = [name for name in missing if "lm_head" not in name]
        if missing or unexpected:
            raise RuntimeError(f"weights do not fit: missing {missing}, unexpected {unexpected}")
        self.global_steps, self.loads = global_steps, self.loads + 1
        self.asked.clear()

    @torch.no_grad()
    def _generate(
        self, prompt_ids: list[int], wanted: Mapping[str, Any]
    ) -> tuple[list[int], list[float]]:
        most = int(wanted.get("max_tokens") or wanted.get("max_new_tokens") or self.response_length)
        temperature = float(wanted.get("temperature", 1.0))
        past, current = None, torch.tensor([list(prompt_ids)])
        prompt = tuple(prompt_ids)
        key = keyed_hash(self.seed, self.global_steps or 0, repr(prompt), self.asked[prompt])
        self.asked[prompt] += 1
        generator = torch.Generator().manual_seed(key % 2**63)
        tokens: list[int] = []
        log_probs: list[float] = []
        for _ in range(most):
            output = self.model(input_ids=current, past_key_values=past, use_cache=True)
            past = output.past_key_values
            logits = output.logits[0, -1].float()
            log_p = torch.log_softmax(logits / temperature if temperature > 0 else logits, -1)
            token = (
                int(log_p.argmax())
                if temperature <= 0
                else int(torch.multinomial(log_p.exp(), 1, generator=generator))
            )
            tokens.append(token)
            log_probs.append(float(log_p[token]) - self.misreport * (token % 2))
            current = torch.tensor([[token]])
            if token == self.eos:
                break
        return tokens, log_probs

    async def generate(
        self,
        request_id: str,
        *,
        prompt_ids: list[int],
        sampling_params: dict[str, Any],
        **_: object,
    ) -> TokenOutput:
        if not self.loads:
            raise RuntimeError("no weights were ever synced")
        tokens, log_probs = self._generate(prompt_ids, sampling_params)
        return TokenOutput(
            token_ids=tokens,
            log_probs=log_probs,
            stop_reason="completed",
            extra_fields={"global_steps": self.global_steps},
        )

    async def wake_up(self, *_: object, **__: object) -> None: ...
    async def sleep(self, *_: object, **__: object) -> None: ...
    async def abort_all_requests(self, *_: object, **__: object) -> None: ...
    async def resume_generation(self, *_: object, **__: object) -> None: ...
    async def clear_kv_cache(self, *_: object, **__: object) -> None: ...
    async def release_kv_cache(self, *_: object, **__: object) -> None: ...
    async def resume_kv_cache(self, *_: object, **__: object) -> None: ...
    async def start_profile(self, *_: object, **__: object) -> None: ...
    async def stop_profile(self, *_: object, **__: object) -> None: ...


class HFCpuServerAdapter(BaseRollout):  # type: ignore[misc]
    """In the training worker: pushes weights to its server."""

    def __init__(
        self, config: Any, model_config: Any, device_mesh: Any, replica_rank: int = -1
    ) -> None:
        super().__init__(config, model_config, device_mesh)
        self.replica_rank = int(os.environ["RANK"]) if replica_rank == -1 else replica_rank
        self.is_leader_rank = True
        self._server: Any = None

    async def resume(self, tags: list[str]) -> None: ...
    async def release(self) -> None: ...

    async def update_weights(
        self,
        weights: Iterable[tuple[str, torch.Tensor]],
        wire_format: str = "named_tensors",
        global_steps: int | None = None,
        **_: object,
    ) -> None:
        if self._server is None:
            self._server = ray.get_actor(f"{NAME}_server_{self.replica_rank}")
        held = {n: t.detach().to("cpu", torch.float32).clone() for n, t in weights}
        await self._server.load_weights.remote(held, global_steps=global_steps)


class HFCpuReplica(RolloutReplica):  # type: ignore[misc]
    """One server per replica."""

    async def launch_servers(self) -> None:
        server = HFCpuServer.options(  # type: ignore[attr-defined]
            name=f"{NAME}_server_{self.replica_rank}", max_concurrency=64
        ).remote(
            self.model_config["path"],
            self.config.response_length,
            self.config.seed + self.replica_rank,
            float((self.config.engine_kwargs.get(NAME) or {}).get("misreport", 0.0)),
        )
        self.servers, self._server_handle = [server], server
        self._server_address = f"{NAME}://{self.replica_rank}"


_ROLLOUT_REGISTRY[(NAME, "async")] = f"{__name__}.HFCpuServerAdapter"
RolloutReplicaRegistry.register(NAME, lambda: HFCpuReplica)
