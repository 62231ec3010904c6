#!/usr/bin/env bash
# One mechanism inside verl on GPUs, by the paper's recipe: GRPO, 5 rollouts, prompts of up to 1,024
# and responses of up to 8,192 tokens, KL 1e-3, 300 steps, a checkpoint every 100.
#   examples/run_demo.sh select|reweight|mix|NAME [verl overrides]...
# NAME is a file of examples/configs. Environment:
#   DATAFLEX_MODEL  model (default Qwen/Qwen2.5-1.5B-Instruct)
#   DATAFLEX_DATA   folder with train.parquet and validation.parquet, with a column `domain` for mix
#                   (default data/gsm8k, made by examples/two_domain_gsm8k.py where it is missing)
#   DATAFLEX_ROOT   checkout of dataflex-data (default: the one this file is in)
#   DATAFLEX_GPUS   GPUs of this machine (default 8);  DATAFLEX_OUT  where runs go (default out)
set -euo pipefail
ROOT=${DATAFLEX_ROOT:-$(cd "$(dirname "$0")/.." && pwd)}
PYTHON=${PYTHON:-python}
if [ $# -lt 1 ]; then
  sed -n '2,11p' "$0" >&2
  exit 2
fi
case $1 in
  select) NAME=difffilter ;;
  reweight) NAME=softmax ;;
  mix) NAME=reward_gap ;;
  *) NAME=$1 ;;
esac
shift
if [ ! -f "$ROOT/examples/configs/$NAME.yaml" ]; then
  echo "no configuration $NAME; there are: $(cd "$ROOT/examples/configs" && ls ./*.yaml | tr -d './' | sed 's/yaml$//' | tr '\n' ' ')" >&2
  exit 2
fi
export DATAFLEX_MODEL=${DATAFLEX_MODEL:-Qwen/Qwen2.5-1.5B-Instruct}
export DATAFLEX_DATA=${DATAFLEX_DATA:-$ROOT/data/gsm8k}
if [ ! -f "$DATAFLEX_DATA/train.parquet" ]; then
  "$PYTHON" "$ROOT/examples/two_domain_gsm8k.py" --out "$DATAFLEX_DATA"
fi
exec "$PYTHON" -m verl.trainer.main_ppo \
  --config-path "$ROOT/examples/configs" --config-name "$NAME" "$@"
