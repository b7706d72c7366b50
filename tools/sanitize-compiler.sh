#!/usr/bin/env bash
# Builds the compiler with the address sanitizer and runs its lit tests (those of test/Execution, which are about programs, aside).
# Programs have the plain build's stub. Without arguments everything is watched, in all folders, else
#   --recent N   the N sources of lib that the newest commits touched are watched, in the folders that belong to the N files of
#                compiler and tests that they touched, such as test/Planning to lib/Planning; all other objects are the plain build's
#   PATH...      these folders and files of build/sanitized-compiler/test, and options of lit
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
plain=$(realpath "${AUTOPAR_BUILD:-$root/build}")
folders=(Cost Dialect Driver Equality Frontend Interpreter Lowering Partition Planning Schedule Training)

# The N files whose names match that the newest commits touched.
recent() {
  git -C "$root" log -n 200 --first-parent -m --name-only --diff-filter=d --format= | grep -E "$2" | awk '!seen[$0]++' | head -n "$1"
}

# The folders of tests that belong to the sources on stdin.
foldersOf() {
  sed -E 's#^lib/Dialect/Interpreter/.*#Interpreter#; s#^(lib|include/autopar|test)/([^/]*)/.*#\2#; s#^tools/.*#Driver#' | sort -u
}

# Objects are found again by later clones in other folders.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1 CCACHE_INODECACHE=1 CCACHE_PCH_EXTSUM=1 CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_ctime,include_file_mtime

if [ "${1:-}" = --recent ]; then
  [ $# -eq 2 ] || { echo "usage: sanitize-compiler.sh [--recent N | PATH...]" >&2; exit 1; }
  build=$plain/sanitized-recent
  belonging=$(recent "$2" '^(lib|include/autopar|tools/autopar|test)[^ ]*/.*\.(h|cpp|td|mlir|test)$' | foldersOf)
  mapfile -t watched < <(recent "$2" '^lib/.*\.cpp$')
  set --
  for folder in "${folders[@]}"; do
    ! grep -qx "$folder" <<<"$belonging" || set -- "$@" "$build/test/$folder"
  done
  [ $# -gt 0 ] && [ ${#watched[@]} -gt 0 ] || { echo "the newest commits touched nothing that these tests are of"; exit 0; }
  printf 'watched: %s\n' "${watched[@]}"
  "$root/tools/sanitize-sources.py" "$plain" "$build" "${watched[@]}"
  mkdir -p "$build/test"
  options=$(sed -nE 's/^ *set\(asan_options (.*)\)$/\1/p' "$root/test/CMakeLists.txt")
  sed "s#^config.autopar_build_dir = .*#config.autopar_build_dir = \"$build\"#; s#^config.asan_options = .*#config.asan_options = \"$options\"#" \
    "$plain/test/lit.site.cfg.py" >"$build/test/lit.site.cfg.py"
else
  build=$plain/sanitized-compiler
  [ $# -gt 0 ] || set -- "${folders[@]/#/$build/test/}"
  [ -f "$build/build.ninja" ] ||
    cmake -S "$root" --preset sanitize -B "$build" -DAUTOPAR_SANITIZE=address \
      -DAUTOPAR_PYTHON="${AUTOPAR_PYTHON:-$plain/venv/bin/python}" >/dev/null
  ninja -C "$build" autopar autopar-import autopar-opt
fi

for tool in "$plain"/bin/autopar-*; do
  case ${tool##*/} in
  autopar-import | autopar-opt) ;; # built above
  *) ln -sf "$tool" "$build/bin/" ;; # follows the plain build when that changes
  esac
done
exec "$(llvm-config-22 --bindir)/lit" -j 2 "$@"
