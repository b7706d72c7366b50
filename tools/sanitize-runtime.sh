#!/usr/bin/env bash
# Builds the runtime with address and undefined-behaviour sanitizers and runs its tests.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${AUTOPAR_BUILD:-$root/build}/sanitized
[ -f "$build/build.ninja" ] ||
  cmake -S "$root/runtime" -B "$build" -G Ninja -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ -DCMAKE_BUILD_TYPE=RelWithDebInfo -DAUTOPAR_SANITIZE=address,undefined \
    -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache >/dev/null
# Objects are found again by later clones in other folders.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
ninja -C "$build"
# The sanitizer takes a block of thread-local variables that the heap placed 16 bytes into a page for one of an older C library,
# reads a size before it and ends the leak check: it is told not to look.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}intercept_tls_get_addr=0
exec "$(find "$build" -name autopar-runtime-tests -type f | head -n 1)" "$@"
