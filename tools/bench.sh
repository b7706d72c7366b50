#!/usr/bin/env bash
# Times five models (from the shared full-size graphs, with made weights) beside onnxruntime, or where those graphs are absent
# the repository's own GPT-2. Arguments: model folders (model.onnx, inputs.npz) to time instead; options of autopar.bench, such
# as --quick. Made folders go to AUTOPAR_FULL (default: build/full). With --kernels first: single kernels beside onnxruntime
# (matrix times vector, decoding, convolutions of lines, depthwise and 1x1 ones) by autopar.bench_kernels and its options. With
# --training first: training steps beside PyTorch's by autopar.bench_training and its options; AUTOPAR_PYTHON is then a Python with
# torch, transformers, torchvision, onnx and onnxscript.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
export AUTOPAR_BUILD=${AUTOPAR_BUILD:-$root/build}
shared=${AUTOPAR_SHARED:-$root/../shared}
full=${AUTOPAR_FULL:-$AUTOPAR_BUILD/full}
python=${AUTOPAR_VENV:-$AUTOPAR_BUILD/venv}/bin/python
export PYTHONPATH=$root/python AUTOPAR_BIN=$AUTOPAR_BUILD/bin

if [ "${1:-}" = --kernels ]; then
  shift
  exec "$python" -m autopar.bench_kernels "$@"
fi

if [ "${1:-}" = --training ]; then
  shift
  exec "${AUTOPAR_PYTHON:-$python}" -m autopar.bench_training "$@"
fi

folders=()
for argument in "$@"; do
  [ -d "$argument" ] && folders+=("$argument")
done
if [ ${#folders[@]} -eq 0 ]; then
  if [ -f "$shared/models/make_weights.py" ]; then
    for name in bert-base gpt2-124m vit-b16 resnet50 efficientnet-b0; do
      [ -f "$full/$name/outputs.npz" ] ||
        "$python" "$shared/models/make_weights.py" "$name" --reference --out "$full/$name" >&2
      folders+=("$full/$name")
    done
  else
    echo "the shared models are absent: timing the repository's own GPT-2"
    [ -f "$full/gpt2/inputs.npz" ] || "$python" -m autopar.models gpt2 "$full/gpt2" batch=8 sequence=512
    folders=("$full/gpt2")
  fi
  set -- "${folders[@]}" "$@"
fi
exec "$python" -m autopar.bench "$@"
