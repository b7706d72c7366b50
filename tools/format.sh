#!/usr/bin/env bash
# Formats the C and C++ sources, or the given files, by clang-format-22 and .clang-format. With --check first it changes
# nothing and ends with 1 where a file is formatted otherwise.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
change=(-i)
if [ "${1:-}" = --check ]; then
  change=(--dry-run -Werror)
  shift
fi
if [ $# -gt 0 ]; then
  printf '%s\0' "$@"
else
  find "$root"/{include,lib,runtime,test,tools} -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.c' \) -print0
fi | xargs -0 clang-format-22 --style="file:$root/.clang-format" "${change[@]}" || exit 1
