#!/usr/bin/env bash
# One mechanism inside the real verl, on a CPU: a tiny model of random weights, no download.
#   examples/run_demo_cpu.sh select|reweight|mix [verl overrides]...
# Takes about a minute and 4 GB of memory. Needs: pip install -e ".[verl]" and a checkout, since the
# stand-ins for a GPU are in tests/verl_cpu.
set -euo pipefail
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-$([ -x .venv/bin/python ] && echo .venv/bin/python || echo python)}
exec "$PYTHON" -m tests.verl_cpu.demo "$@"
