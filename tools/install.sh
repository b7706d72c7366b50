#!/usr/bin/env bash
# Installs what building and testing need on Debian 12, as root or with sudo. Safe to run again; quick when all is there.
# Python packages go into a virtual environment, by default build/venv.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${AUTOPAR_BUILD:-$root/build}
venv=${AUTOPAR_VENV:-$build/venv}

packages=(clang-22 libclang-rt-22-dev g++ cmake ninja-build ccache git python3 python3-venv
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools clang-format-22 clang-tidy-22 liblld-22-dev lld-22
  libprotobuf-dev protobuf-compiler zlib1g-dev nlohmann-json3-dev libdnnl-dev libgtest-dev libgoogle-perftools-dev)

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  sudo=
  [ "$(id -u)" -eq 0 ] || sudo=sudo
  echo "installing: ${missing[*]}"
  $sudo apt-get update -q
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "${missing[@]}"
fi

mkdir -p "$build"
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/python" -c 'import onnx, numpy, onnxruntime, safetensors' 2>/dev/null ||
  "$venv/bin/pip" install -q onnx==1.23.2 numpy onnxruntime==1.31.1 safetensors==0.6.2
