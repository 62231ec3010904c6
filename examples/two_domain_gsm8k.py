"""Build GSM8K and split it into two domains, by the steps of the worked solution, for the mix demo.

    python examples/two_domain_gsm8k.py --out data/gsm8k [--source gsm8k=PATH]

Rows whose solution has at most 3 steps are the domain ``short``, the others ``long``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dataflex_data.cli.main import main as dfdata

RECIPE = Path(__file__).resolve().parent / "gsm8k.yaml"
SHORT_STEPS = 3


def two_domains(table: pa.Table) -> pa.Table:
    """Return the rows with the domain ``short`` or ``long``."""
    steps = pc.struct_field(table.column("extra_info"), "difficulty")
    domain = pc.if_else(pc.less_equal(steps, SHORT_STEPS), "short", "long")
    return table.set_column(table.schema.get_field_index("domain"), "domain", domain)


def main(arguments: Sequence[str] | None = None) -> None:
    """Build, split, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--source", action="append", default=[], help="as in dfdata build")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        built = Path(name) / "gsm8k"
        sources = [word for source in options.source for word in ("--source", source)]
        try:
            dfdata(["build", "--recipe", str(RECIPE), "--out", str(built), *sources])
        except SystemExit as done:
            if done.code:
                raise
        options.out.mkdir(parents=True, exist_ok=True)
        for file in ("train.parquet", "validation.parquet"):
            table = two_domains(pq.read_table(built / file))
            pq.write_table(table, options.out / file)
            counts = pc.value_counts(table.column("domain")).to_pylist()
            told = ", ".join(f"{c['counts']} {c['values']}" for c in counts)
            sys.stdout.write(f"{options.out / file}: {told}\n")


if __name__ == "__main__":
    main()
