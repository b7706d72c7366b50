#!/usr/bin/env bash
# Installs, builds and runs every test: unit tests, runtime tests (plain and sanitized), lit, random programs on simulated and
# on real ranks, execution of whole against partitioned; clang-tidy and the sanitized compiler on what the newest commits
# touched. As many steps as there are cores run at a time; each is told when it ends, with its seconds and how long it kept a
# core busy. Ends with the counts of all of them. Exit code 0: nothing failed.
# AUTOPAR_REQUIRE_SHARED=1: where the shared models (AUTOPAR_SHARED, by default ../shared) are absent, tests of them fail rather
# than skip.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
export AUTOPAR_BUILD=${AUTOPAR_BUILD:-$root/build}
export AUTOPAR_PYTHON=${AUTOPAR_VENV:-$AUTOPAR_BUILD/venv}/bin/python
export PYTHONPATH=$root/python
export AUTOPAR_SHARED=${AUTOPAR_SHARED:-$root/../shared}
passed=0 failed=0 skipped=0
logs=$AUTOPAR_BUILD/test-logs

# add PASSED FAILED SKIPPED: to the counts.
add() { passed=$((passed + $1)); failed=$((failed + $2)); skipped=$((skipped + $3)); }

# count LOG PATTERN: the last number that PATTERN's first group matches in LOG, or 0.
count() { local n; n=$(sed -nE "s/$2/\1/p" "$1" | tail -n 1); echo "${n:-0}"; }

# step NAME KIND COMMAND...: starts it once fewer than `lanes` steps run, with its output in NAME.log.
lanes=$(nproc)
running=0
step() {
  [ "$running" -lt "$lanes" ] || await
  local name=$1
  printf '%s\n' "$2" >"$logs/$name.kind"
  shift 2
  (
    code=0 TIMEFORMAT='%0R %0U %0S'
    { time "$@" >"$logs/$name.log" 2>&1 </dev/null || code=$?; } 2>"$logs/$name.time"
    echo "$code $(cat "$logs/$name.time")" >"$logs/$name.end"
  ) &
  names[$!]=$name
  running=$((running + 1))
}

# await: waits for one of the steps that run, shows the end of its output (more where it failed), counts by the runner's own
# closing lines.
declare -A names
await() {
  local job name kind log code=1 seconds=0 user=0 system=0 p=0 f=0 s=0
  wait -n -p job
  running=$((running - 1)) name=${names[$job]} log=$logs/${names[$job]}.log
  read -r kind <"$logs/$name.kind"
  read -r code seconds user system <"$logs/$name.end" # a step that was killed has none
  echo "== $name ($seconds s, $((user + system)) s of a core)"
  tail -n "$((code == 0 ? 12 : 120))" "$log" # a sanitizer's report has a hundred lines
  case $kind in
  gtest)
    p=$(count "$log" '^\[  PASSED  \] ([0-9]+) tests?.*')
    f=$(count "$log" '^\[  FAILED  \] ([0-9]+) tests?, listed below.*')
    s=$(count "$log" '^\[  SKIPPED \] ([0-9]+) tests?, listed below.*') ;;
  lit)
    p=$(count "$log" '^ *Passed *: *([0-9]+).*')
    f=$(($(count "$log" '^ *Failed *: *([0-9]+).*') + $(count "$log" '^ *Unresolved *: *([0-9]+).*') + $(count "$log" '^ *Timed Out *: *([0-9]+).*')))
    s=$(count "$log" '^ *Unsupported *: *([0-9]+).*') ;;
  plain)
    p=$(count "$log" '^([0-9]+) passed, [0-9]+ failed.*')
    f=$(count "$log" '^[0-9]+ passed, ([0-9]+) failed.*')
    s=$(count "$log" '^[0-9]+ passed, [0-9]+ failed, ([0-9]+) skipped.*') ;;
  esac
  [ "$code" -eq 0 ] || [ "$f" -gt 0 ] || f=1 # it died before it could count
  add "$p" "$f" "$s"
}

"$root/tools/install.sh" || exit 1
"$root/tools/build.sh" all autopar-unit-tests || exit 1
rm -rf "$logs"
mkdir -p "$logs"
bin=$AUTOPAR_BUILD/bin
# The longest first: what is left at the end keeps one core alone.
step lit lit "$(llvm-config-22 --bindir)/lit" -j 2 "$AUTOPAR_BUILD/test"
step unit gtest "$bin/autopar-unit-tests"
step runtime gtest "$bin/autopar-runtime-tests"
step runtime-sanitized gtest "$root/tools/sanitize-runtime.sh"
step tidy plain "$root/tools/tidy.sh" --recent 12 # without arguments it checks the whole tree
step lit-sanitized lit "$root/tools/sanitize-compiler.sh" --recent 24 # without arguments it runs all folders
step runtime-gcc plain "$root/tools/gcc-runtime.sh"
step properties plain "$bin/autopar-property-tests"
step mutations plain "$bin/autopar-property-tests" --mutations --seed=3001 --graphs=200 --mutants=2 # of every kind
step derivatives plain "$bin/autopar-property-tests" --derivatives
step decompositions plain "$bin/autopar-property-tests" --decompositions
step plans plain "$bin/autopar-property-tests" --plans --graphs=20 # against all plans of small programs
step plans-in-pairs plain "$bin/autopar-property-tests" --plans --graphs=1 --seed=10115 # one whose best plan branches do not come to
step plans-around-nodes plain "$bin/autopar-property-tests" --plans --graphs=1 --seed=11093 # and one whose best plan differs in four choices from the one found
step programs plain "$bin/autopar-property-tests" --graphs=100 --mutants=0 --programs=100 # on real ranks
step programs-emulated plain "$bin/autopar-property-tests" --seed=5001 --graphs=60 --mutants=0 --programs=60 --target=emulated
step execution plain "$AUTOPAR_PYTHON" "$root/test/Execution/run_models.py"
step library-calls plain "$AUTOPAR_PYTHON" "$root/test/Execution/count_library_calls.py"
step library-calls-emulated plain "$AUTOPAR_PYTHON" "$root/test/Execution/count_library_calls.py" --target emulated
# Other models with each commit; the line of a failure says how to make its model again.
seed=$(git -C "$root" rev-parse --short=12 HEAD 2>/dev/null || echo 777)
step random-models plain "$AUTOPAR_PYTHON" "$root/test/Execution/fuzz_models.py" --minutes 1 --type mixed --seed "$seed"
step ptx plain "$AUTOPAR_PYTHON" "$root/test/Execution/check_ptx.py" --models bert-tiny,efficientnet-narrow,llama-tiny,lstm-lm,moe-tiny,unet-tiny
step execution-emulated plain "$AUTOPAR_PYTHON" "$root/test/Execution/run_models.py" --target emulated # --full: every case
while [ "$running" -gt 0 ]; do await; done

echo
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
