#!/usr/bin/env bash
# Builds the compiler with the address sanitizer and runs its lit tests (those of test/Execution, which are about programs, aside).
# Programs have the plain build's stub. Arguments go to lit instead, such as folders of build/sanitized-compiler/test.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
plain=$(realpath "${AUTOPAR_BUILD:-$root/build}")
build=$plain/sanitized-compiler
[ -f "$build/build.ninja" ] ||
  cmake -S "$root" --preset sanitize -B "$build" -DAUTOPAR_SANITIZE=address \
    -DAUTOPAR_PYTHON="${AUTOPAR_PYTHON:-$plain/venv/bin/python}" >/dev/null
# Objects are found again by later clones in other folders.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1 CCACHE_INODECACHE=1 CCACHE_PCH_EXTSUM=1 CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_ctime,include_file_mtime
ninja -C "$build" autopar autopar-import autopar-opt
for tool in "$plain"/bin/autopar-*; do
  case ${tool##*/} in
  autopar-import | autopar-opt) ;; # built above
  *) ln -sf "$tool" "$build/bin/" ;; # follows the plain build when that changes
  esac
done
[ $# -gt 0 ] || set -- "$build"/test/{Cost,Dialect,Driver,Equality,Frontend,Interpreter,Lowering,Partition,Planning,Schedule,Training}
exec "$(llvm-config-22 --bindir)/lit" -j 2 "$@"
