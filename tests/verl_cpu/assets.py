"""A tiny Qwen2 of random weights, a byte-level tokenizer, and toy rows of two domains."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOMAINS = ("easy", "hard")
_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def toy_rows(count: int, split: str) -> Iterator[dict[str, Any]]:
    """Yield rows that alternate between the domains."""
    for number in range(count):
        domain = DOMAINS[number % 2]
        yield {
            "prompt": [{"role": "user", "content": f"write {domain} letters please {number}"}],
            "data_source": f"toy/{domain}",
            "domain": domain,
            "ability": "toy",
            "reward_model": {"style": "rule", "ground_truth": ""},
            "extra_info": {"split": split, "index": number, "difficulty": float(number % 5)},
        }


def make_assets(folder: Path, rows: int = 32) -> Path:
    """Write model, ``train.parquet`` and ``test.parquet`` into ``folder``; once."""
    folder = folder.resolve()
    if (folder / "test.parquet").exists():
        return folder
    import pyarrow as pa
    import pyarrow.parquet as pq
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    texts = ["write easy letters please", "write hard letters please", "user assistant"]
    core.train_from_iterator(texts * 50, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )
    tokenizer.chat_template = _TEMPLATE
    tokenizer.save_pretrained(folder / "model")
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
        tie_word_embeddings=False,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )
    Qwen2ForCausalLM(config).save_pretrained(folder / "model")
    pq.write_table(pa.Table.from_pylist(list(toy_rows(rows, "train"))), folder / "train.parquet")
    pq.write_table(pa.Table.from_pylist(list(toy_rows(4, "test"))), folder / "test.parquet")
    return folder


if __name__ == "__main__":
    make_assets(Path(sys.argv[1]))
