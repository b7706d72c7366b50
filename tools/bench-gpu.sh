#!/usr/bin/env bash
# Measures executables on this host's GPU: small models against their references, gpt2-124m, bert-base and resnet50 beside
# PyTorch, kernels beside a copy, GEMMs beside cuBLASLt. Without a GPU the same is tried on the emulated device. Options go to
# test/Execution/bench_gpu.py. AUTOPAR_PYTHON: a Python with torch and transformers beside what tools/install.sh installs.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
export AUTOPAR_BUILD=${AUTOPAR_BUILD:-$root/build}
export PYTHONPATH=$root/python AUTOPAR_BIN=$AUTOPAR_BUILD/bin
export AUTOPAR_SHARED=${AUTOPAR_SHARED:-$root/../shared}
python=${AUTOPAR_PYTHON:-${AUTOPAR_VENV:-$AUTOPAR_BUILD/venv}/bin/python}
exec "$python" "$root/test/Execution/bench_gpu.py" --folder "${AUTOPAR_FULL:-$AUTOPAR_BUILD/full}" "$@"
