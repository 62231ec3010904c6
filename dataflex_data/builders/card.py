"""The dataset card (README.md of a corpus): front matter for a hub, words for a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, StrictUndefined

_HUB_LICENSES = {
    "MIT": "mit",
    "Apache-2.0": "apache-2.0",
    "CC-BY-4.0": "cc-by-4.0",
    "CC-BY-NC-3.0": "cc-by-nc-3.0",
    "CC-BY-NC-SA-4.0": "cc-by-nc-sa-4.0",
}
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))

_TEMPLATE = """\
---
pretty_name: {{ m.name }}
language:
- en
license: {{ license }}
{%- if license == "other" %}
license_name: mixed
{%- endif %}
task_categories:
- question-answering
- text-generation
tags:
- rlvr
- verl
- dataflex-data
size_categories:
- {{ size }}
configs:
- config_name: default
  data_files:
{%- for split in ["train", "validation"] if m.rows[split].total %}
  - split: {{ split }}
    path: {{ split }}*.parquet
{%- endfor %}
---

# {{ m.name }}

{{ m.description }}

Built by dataflex-data {{ m.versions["dataflex-data"] }} with `{{ m.command }}`, seed \
{{ m.recipe.seed }}, row schema version {{ m.schema_version }}.

{% if non_commercial -%}
**Non-commercial.** Rows of {{ non_commercial | join(", ") }} are under a non-commercial licence, so
the corpus as a whole may not be used commercially. Each row names its own licence in
`extra_info.license`.
{%- else -%}
Each row names its own licence in `extra_info.license`.
{%- endif %}

## Rows

| domain | train | validation |
| --- | ---: | ---: |
{%- for domain in m.domains %}
| {{ domain }} | {{ m.rows.train.by_domain.get(domain, 0) }} | \
{{ m.rows.validation.by_domain.get(domain, 0) }} |
{%- endfor %}
| all | {{ m.rows.train.total }} | {{ m.rows.validation.total }} |

## Sources

| source | origin | revision | licence | read | train | validation |
| --- | --- | --- | --- | ---: | ---: | ---: |
{%- for name, s in m.sources.items() %}
| {{ name }} | {{ s.repo_id }} ({{ s.origin }}) | \
{% if s.origin == "local" %}sha256 {{ s.files[0].sha256[:12] }}{% else %}{{ s.revision }}\
{% endif %} | {{ s.license }} | \
{{ s.raw }} | {{ s.drawn.train }} | {{ s.drawn.validation }} |
{%- endfor %}

### Left out, by reason

| source | reason | records |
| --- | --- | ---: |
{%- for name, s in m.sources.items() %}
{%- for reason, count in s.dropped.items() %}
| {{ name }} | {{ reason }} | {{ count }} |
{%- endfor %}
{%- endfor %}

{{ m.conflicts | length }} groups of records hold one text with golds that contradict each other;
all of their records were left out (`conflicts` in `manifest.json`).

## Decontamination

{% if m.recipe.evaluation -%}
These are evaluation items: train on none of them.
{%- elif m.decontamination and not m.decontamination.benchmarks -%}
**This corpus was checked against no evaluation set**: none of \
{{ m.decontamination.missing | join(", ") }} could be loaded.
{%- elif m.decontamination -%}
{{ m.decontamination.rows_flagged }} of {{ m.decontamination.rows_checked }} records held an \
evaluation item and were dropped before the quotas were filled. Rule: \
{{ m.decontamination.rule_in_words }}.

| benchmark | items | items hit | records dropped |
| --- | ---: | ---: | ---: |
{%- for name, b in m.decontamination.benchmarks.items() %}
| {{ name }} | {{ b["items"] }} | {{ b.items_hit }} | {{ b.rows_flagged }} |
{%- endfor %}
{% if m.decontamination.missing %}
**Not checked against {{ m.decontamination.missing | join(", ") }}**, which could not be loaded.
{% endif %}
{%- else -%}
This corpus was not checked against any evaluation set.
{% endif %}
{% if m.notes %}
## Notes
{% for note in m.notes %}
- {{ note }}
{%- endfor %}
{% endif %}
## Use

```python
from datasets import load_dataset

rows = load_dataset("path/to/this/folder")["train"]
```

verl reads `train.parquet` and `validation.parquet` as they are. `data_source` names the verifier
route; give verl the reward function of dataflex-data, stock verl refuses these routes:

```
reward.custom_reward_function.path=pkg://dataflex_data.integrations.verl.reward \\
reward.custom_reward_function.name=compute_score
```

`domain` is the unit of mixture, `extra_info.source` the origin, `extra_info.raw_question` the
question without template. A difficulty, a number of people or of tokens of -1 means: not known or
not applicable.

## Limits

Golds are those of the sources; each row's gold was checked to score 1 with its own verifier, which
says that it can be recognised, not that it is true. Filters for language, figures and degenerate
texts are rules of thumb. Rows that are the same up to letters and digits stand here once;
paraphrases are not found.
"""


def dataset_card(manifest: Mapping[str, Any]) -> str:
    """Return the card as Markdown with the hub's front matter."""
    licenses = manifest["licenses"]
    total = manifest["rows"]["train"]["total"] + manifest["rows"]["validation"]["total"]
    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True)
    return environment.from_string(_TEMPLATE).render(
        m=manifest,
        license=_HUB_LICENSES.get(licenses[0], "other") if len(licenses) == 1 else "other",
        non_commercial=sorted(
            name for name, source in manifest["sources"].items() if "-NC" in source["license"]
        ),
        size=next((name for limit, name in _SIZES if total < limit), "1M<n<10M"),
    )
