#!/usr/bin/env bash
# Builds the runtime with address and undefined-behaviour sanitizers, or after --thread with the thread sanitizer, and runs its tests; arguments
# are those of GoogleTest.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${AUTOPAR_BUILD:-$root/build}/sanitized
watched=address,undefined
if [ "${1:-}" = --thread ]; then
  shift
  build=$build-thread
  watched=thread
fi
# The flags are those of the preset `sanitize`, which configures the whole project and cannot configure runtime/ alone.
[ -f "$build/build.ninja" ] ||
  cmake -S "$root/runtime" -B "$build" -G Ninja -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_C_FLAGS_DEBUG='-O1 -g1' -DCMAKE_CXX_FLAGS_DEBUG='-O1 -g1' -DAUTOPAR_SANITIZE=$watched \
    -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache >/dev/null
# Objects are found again by later clones in other folders.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
ninja -C "$build" autopar-runtime-tests
# The address sanitizer takes a block of thread-local variables that the heap placed 16 bytes into a page for one of an older C library,
# reads a size before it and ends the leak check: it is told not to look.
# A test forks while there are threads, and its child makes some.
export TSAN_OPTIONS=${TSAN_OPTIONS:+$TSAN_OPTIONS:}die_after_fork=0
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}intercept_tls_get_addr=0
exec "$(find "$build" -name autopar-runtime-tests -type f | head -n 1)" "$@"
