#!/usr/bin/env bash
# Configures and builds into build/ (AUTOPAR_BUILD names another folder). Arguments go to ninja: targets, default all.
# AUTOPAR_WERROR=ON or OFF: whether warnings are errors; without it as configured before, at first not.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${AUTOPAR_BUILD:-$root/build}
venv=${AUTOPAR_VENV:-$build/venv}
[ -f "$build/build.ninja" ] ||
  cmake -S "$root" --preset release -B "$build" -DAUTOPAR_PYTHON="$venv/bin/python"
[ -z "${AUTOPAR_WERROR:-}" ] || grep -qx "AUTOPAR_WERROR:BOOL=$AUTOPAR_WERROR" "$build/CMakeCache.txt" ||
  cmake -DAUTOPAR_WERROR="$AUTOPAR_WERROR" "$build"
# Objects are found again by later clones in other folders.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
exec ninja -C "$build" "$@"
