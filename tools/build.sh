#!/usr/bin/env bash
# Configures and builds into build/ (AUTOPAR_BUILD names another folder). Arguments go to ninja: targets, default all.
# AUTOPAR_WERROR=ON or OFF: whether warnings are errors; AUTOPAR_ASSERTS: whether assertions are checked, ours and the standard
# library's. Without them as configured before, at first neither.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${AUTOPAR_BUILD:-$root/build}
venv=${AUTOPAR_VENV:-$build/venv}
[ -f "$build/build.ninja" ] ||
  cmake -S "$root" --preset release -B "$build" -DAUTOPAR_PYTHON="$venv/bin/python"
for option in AUTOPAR_WERROR AUTOPAR_ASSERTS; do
  value=${!option:-}
  [ -z "$value" ] || grep -qx "$option:BOOL=$value" "$build/CMakeCache.txt" || cmake -D$option="$value" "$build"
done
# Objects are found again by later clones in other folders.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1 CCACHE_INODECACHE=1 CCACHE_PCH_EXTSUM=1 CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_ctime,include_file_mtime
exec ninja -C "$build" "$@"
