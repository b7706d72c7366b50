#!/usr/bin/env bash
# Builds the runtime by gcc, without optimizing and with warnings as errors: it is built by itself where clang is not
# (cmake -S runtime). The last line counts its sources: "N passed, N failed, 0 skipped".
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${AUTOPAR_BUILD:-$root/build}/gcc
[ -f "$build/build.ninja" ] ||
  cmake -S "$root/runtime" -B "$build" -G Ninja -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_CXX_FLAGS_DEBUG= -DCMAKE_COMPILE_WARNING_AS_ERROR=ON -DAUTOPAR_RUNTIME_TESTS=OFF \
    -DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache >/dev/null
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
failed=0
ninja -C "$build" -k 0 || failed=1
sources=$(ninja -C "$build" -t targets all | grep -c '\.cpp\.o: ')
built=$(find "$build" -name '*.cpp.o' | wc -l)
[ "$failed" -eq 0 ] || failed=$((sources > built ? sources - built : 1)) # 1: a link
echo "$built passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
