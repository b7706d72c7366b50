#!/usr/bin/env bash
# Runs lit tests of the build in build/: tools/lit.sh [folder or file under test/ ...]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${AUTOPAR_BUILD:-$root/build}
llvm=$(llvm-config-22 --prefix)
args=()
for path in "${@:-test}"; do
  case $path in -*) args+=("$path") ;; *) args+=("$build/${path#"$root/"}") ;; esac
done
exec "$llvm/bin/lit" -v "${args[@]}"
