#!/usr/bin/env bash
# Builds the compiler with the address sanitizer and runs its lit tests (those of test/Execution, which are about programs, aside).
# Programs have the plain build's stub. Without arguments all folders (10 minutes on two cores), else
#   --recent N   the folders that belong to the N sources that the newest commits touched, such as test/Planning to lib/Planning
#   PATH...      these folders and files of build/sanitized-compiler/test, and options of lit
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
plain=$(realpath "${AUTOPAR_BUILD:-$root/build}")
build=$plain/sanitized-compiler
folders=(Cost Dialect Driver Equality Frontend Interpreter Lowering Partition Planning Schedule Training)

# Prints the test folders that belong to the N sources of the compiler and its tests that the newest commits touched.
recent() {
  git -C "$root" log -n 200 --first-parent -m --name-only --diff-filter=d --format= |
    grep -E '^(lib|include/autopar|tools/autopar|test)[^ ]*/.*\.(h|cpp|td|mlir|test)$' | awk '!seen[$0]++' | head -n "$1" |
    sed -E 's#^lib/Dialect/Interpreter/.*#Interpreter#; s#^(lib|include/autopar|test)/([^/]*)/.*#\2#; s#^tools/.*#Driver#' | sort -u
}

if [ "${1:-}" = --recent ]; then
  [ $# -eq 2 ] || { echo "usage: sanitize-compiler.sh [--recent N | PATH...]" >&2; exit 1; }
  touched=$(recent "$2")
  set --
  for folder in "${folders[@]}"; do
    ! grep -qx "$folder" <<<"$touched" || set -- "$@" "$build/test/$folder"
  done
  [ $# -gt 0 ] || { echo "the newest commits touched nothing that these tests are of"; exit 0; }
fi
[ $# -gt 0 ] || set -- "${folders[@]/#/$build/test/}"

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
exec "$(llvm-config-22 --bindir)/lit" -j 2 "$@"
