#!/usr/bin/env bash
# Checks C++ sources by clang-tidy-22 and .clang-tidy; a finding is a failure. Without arguments the whole tree (20 to 40 minutes
# on two cores), else the given files, or
#   --since REV   those that changed since the commit REV
#   --recent N    the N that the newest commits touched
# Headers are checked with the sources that include them. It needs a build (tools/build.sh, AUTOPAR_BUILD names another folder):
# its compile commands and the headers that it generates. The last line counts files: "N passed, N failed, N skipped".
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
export AUTOPAR_BUILD=${AUTOPAR_BUILD:-$root/build}
export TIDY=$(command -v clang-tidy-22 || true)
fail() { echo "$1" >&2; exit 1; }

[ -n "$TIDY" ] || fail "clang-tidy-22 is not installed: run tools/install.sh"
[ -f "$AUTOPAR_BUILD/compile_commands.json" ] && [ -d "$AUTOPAR_BUILD/include/autopar" ] ||
  fail "$AUTOPAR_BUILD has no build, whose commands and generated headers clang-tidy reads: run tools/build.sh"
case ${1:-} in
--since | --recent) [ $# -eq 2 ] || fail "usage: tidy.sh [--since REV | --recent N | FILE...]" ;;
'') ;;
*) given=$(realpath --relative-to="$root" -- "$@") ;;
esac
cd "$root"

# The sources that are compiled, one a line.
compiled() { sed -nE 's/^ *"file": "(.*)",?$/\1/p' "$AUTOPAR_BUILD/compile_commands.json" | sed "s#^$root/##"; }

# Of the files on stdin, in their order, each source once that is there and compiled.
sources() { awk 'NR == FNR { known[$0]; next } $0 in known && !seen[$0]++' <(compiled) -; }

case ${1:-} in
--since)
  changed=$(git diff --name-only --diff-filter=d "$2" --) || fail "git knows no commit $2"
  files=$(sources <<<"$changed")
  ;;
--recent) files=$(git log -n 200 --first-parent -m --name-only --diff-filter=d --format= 2>/dev/null | sources | head -n "$2" || true) ;;
'') files=$(git ls-files '*.cpp' | sources) ;;
*) files=$(sources <<<"$given") ;;
esac
[ -n "$files" ] || { echo "0 passed, 0 failed, 1 skipped"; exit 0; }

# Precompiled headers are the compiler's own: a source is checked with the headers that it includes.
precompiled=$(grep -m 1 -oE -- '-include(-pch)? [^ ]+/cmake_pch\.hxx(\.pch)?' "$AUTOPAR_BUILD/compile_commands.json" || true)
export PRECOMPILED=$precompiled

# check FILE: what clang-tidy says of it, if anything, and a line that begins with ok or FAILED.
check() {
  local found plain=(--removed-arg="${PRECOMPILED% *}" --removed-arg="${PRECOMPILED#* }")
  if found=$("$TIDY" "${plain[@]}" -p "$AUTOPAR_BUILD" --quiet "$1" 2>&1); then
    echo "ok $1"
  else
    printf '%s\nFAILED %s\n' "$found" "$1"
  fi
}
export -f check

log=$(mktemp)
trap 'rm -f "$log"' EXIT
xargs -P "$(nproc)" -I{} bash -c 'check "$1"' check {} <<<"$files" | tee "$log" | grep -v '^ok ' || true
passed=$(grep -c '^ok ' "$log" || true) failed=$(grep -c '^FAILED ' "$log" || true)
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
