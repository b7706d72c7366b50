#!/usr/bin/env bash
# Times gpt2-124m (from the shared full-size graphs with made weights, or where those are absent the repository's own GPT-2)
# beside onnxruntime. Arguments: other model folders (model.onnx, inputs.npz) to time instead.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
export AUTOPAR_BUILD=${AUTOPAR_BUILD:-$root/build}
shared=${AUTOPAR_SHARED:-$root/../shared}
python=${AUTOPAR_VENV:-$AUTOPAR_BUILD/venv}/bin/python
export PYTHONPATH=$root/python AUTOPAR_BIN=$AUTOPAR_BUILD/bin

if [ $# -eq 0 ]; then
  folder=$AUTOPAR_BUILD/full/gpt2-124m
  if [ -f "$shared/models/make_weights.py" ]; then
    [ -f "$folder/outputs.npz" ] || "$python" "$shared/models/make_weights.py" gpt2-124m --reference --out "$folder"
  else
    echo "the shared models are absent: timing the repository's own GPT-2"
    [ -f "$folder/inputs.npz" ] || "$python" -m autopar.models gpt2 "$folder" batch=8 sequence=512
  fi
  set -- "$folder"
fi
exec "$python" -m autopar.bench "$@"
