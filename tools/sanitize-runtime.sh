#!/usr/bin/env bash
# Builds the runtime with address and undefined-behaviour sanitizers and runs its tests.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${AUTOPAR_BUILD:-$root/build}/sanitized
[ -f "$build/build.ninja" ] ||
  cmake -S "$root/runtime" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DAUTOPAR_SANITIZE=address,undefined \
    -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache >/dev/null
# Objects are found again by later clones in other folders.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
ninja -C "$build"
exec "$(find "$build" -name autopar-runtime-tests -type f | head -n 1)" "$@"
