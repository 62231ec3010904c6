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
#   PYTHON          interpreter that has verl (default: the checkout's .venv, else python)
set -euo pipefail
ROOT=${DATAFLEX_ROOT:-$(cd "$(dirname "$0")/.." && pwd)}
CONFIGS=$ROOT/examples/configs
die() {
  echo "run_demo.sh: $*" >&2
  exit 2
}
if [ $# -lt 1 ]; then
  sed -n '2,11p' "$0" >&2
  exit 2
fi
[ -f "$CONFIGS/recipe.yaml" ] || die "DATAFLEX_ROOT=$ROOT is no checkout of dataflex-data (no examples/configs/recipe.yaml in it)"
case $1 in
  select) NAME=difffilter ;;
  reweight) NAME=softmax ;;
  mix) NAME=reward_gap ;;
  *) NAME=$1 ;;
esac
shift
if [ "$NAME" = recipe ] || [ ! -f "$CONFIGS/$NAME.yaml" ]; then
  die "no configuration $NAME; there are: $(basename -s .yaml "$CONFIGS"/*.yaml | grep -vx recipe | tr '\n' ' ')"
fi
case ${DATAFLEX_GPUS:-8} in
  '' | *[!0-9]* | 0*) die "DATAFLEX_GPUS must be a whole number of at least 1, got ${DATAFLEX_GPUS:-}" ;;
esac
PYTHON=${PYTHON:-$([ -x "$ROOT/.venv/bin/python" ] && echo "$ROOT/.venv/bin/python" || echo python)}
"$PYTHON" -c 'import importlib.util as u, sys; sys.exit(not all(map(u.find_spec, ("verl", "dataflex_data"))))' ||
  die "$PYTHON has no verl or no dataflex-data; pip install \"dataflex-data[verl]\", or set PYTHON"
export DATAFLEX_MODEL=${DATAFLEX_MODEL:-Qwen/Qwen2.5-1.5B-Instruct}
# Only the default is made: another folder that is missing is a mistake, not a wish for GSM8K.
if [ -z "${DATAFLEX_DATA:-}" ] && [ ! -f "$ROOT/data/gsm8k/train.parquet" ]; then
  "$PYTHON" "$ROOT/examples/two_domain_gsm8k.py" --out "$ROOT/data/gsm8k"
fi
export DATAFLEX_DATA=${DATAFLEX_DATA:-$ROOT/data/gsm8k}
for file in train.parquet validation.parquet; do
  [ -f "$DATAFLEX_DATA/$file" ] || die "DATAFLEX_DATA=$DATAFLEX_DATA has no $file; build one with dfdata build"
done
exec "$PYTHON" -m verl.trainer.main_ppo --config-path "$CONFIGS" --config-name "$NAME" "$@"
