#!/usr/bin/env bash
# From a fresh machine to a running model: installs, builds, makes GPT-2 (124M parameters, seeded weights), compiles it for
# 1, 2 and 4 ranks, runs it, compares with one rank, and shows plan and times. Safe to run again.
# No arguments. AUTOPAR_BUILD names the build folder, AUTOPAR_VENV the Python environment.
set -eu
case ${1-} in
"") ;;
-h | --help) sed -n '2,/^set/{/^#/s/^# //p}' "$0"; exit ;;
*) echo "quickstart.sh takes no arguments ('$1' was given); see --help" >&2; exit 1 ;;
esac
root=$(cd "$(dirname "$0")/.." && pwd)
export AUTOPAR_BUILD=${AUTOPAR_BUILD:-$root/build}
python=${AUTOPAR_VENV:-$AUTOPAR_BUILD/venv}/bin/python
export PYTHONPATH=$root/python

"$root/tools/install.sh"
"$root/tools/build.sh" all autopar-docs

work=$AUTOPAR_BUILD/quickstart
mkdir -p "$work"
if [ ! -f "$work/inputs.npz" ]; then
  echo "== Making GPT-2 with seeded weights (124M parameters, 500 MB)"
  "$python" -m autopar.models gpt2 "$work"
fi
cd "$work"
for ranks in 1 2 4; do
  echo "== $ranks rank(s): compile"
  "$AUTOPAR_BUILD/bin/autopar" compile model.onnx --ranks $ranks -o gpt2-r$ranks
  echo "== $ranks rank(s): run"
  ./gpt2-r$ranks --inputs inputs.npz --outputs out-r$ranks.npz --warm-up 1 --repeat 3 --json report-r$ranks.json
done
echo "== Compare with one rank"
for ranks in 2 4; do
  echo "-- $ranks ranks"
  "$python" -m autopar.compare out-r$ranks.npz out-r1.npz
done
echo "== Compare one rank with onnxruntime"
"$python" - <<'PYTHON'
import sys
import numpy as np, onnxruntime
from autopar.compare import compare
session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
names = [output.name for output in session.get_outputs()]
reference = dict(zip(names, session.run(None, dict(np.load("inputs.npz")))))
ratios = compare(dict(np.load("out-r1.npz")), reference)
for name, ratio in ratios.items():
    print(f"{name}: {'equal' if ratio <= 1 else 'DIFFERENT'}, {ratio:.3g} of the tolerance 0.0001")
sys.exit(any(ratio > 1 for ratio in ratios.values()))
PYTHON
echo "the reference of ops and passes: $AUTOPAR_BUILD/docs"
echo "quickstart: all equal"
