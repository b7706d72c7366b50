"""Counts the library calls that Cost priced, and those of them that Schedule made loops: there must be none.

    python test/Execution/count_library_calls.py [--target emulated] [--full] [--models NAME,...] [--jobs N]

Planning prices the kernel groups of the whole model, Schedule forms those of what a device runs, with its smaller blocks. Each
case (model_matrix.py) is compiled as far as the schedule. What is a library call in the groups of its planned module (the whole
model) must be a call wherever its op appears in the scheduled module. Without the shared models there is nothing to count (a
failure with AUTOPAR_REQUIRE_SHARED=1). The last line counts: "N passed, N failed, N skipped".
"""

import argparse
import os
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "python"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from autopar import find_tool  # noqa: E402
from model_matrix import all_models, cases_of, facts_of, gpu_cases_of, sample_of  # noqa: E402
from run_models import DEVICES, compile_command, run  # noqa: E402
from shared_models import SMALL, end_without  # noqa: E402

KERNEL = re.compile(r'autopar\.kernel .*?(library <[^>]*>)? (?:attributes|{).*autopar\.op = "([^"]*)"')
OP = re.compile(r'autopar\.(einsum "[^"]*"|convolution) ')


def library_ops(text):
    """(node, GEMM or convolution) of each kernel with one, and whether that is a call."""
    node, called = None, False
    for line in text.splitlines():
        if kernel := KERNEL.search(line):
            called, node = bool(kernel.group(1)), kernel.group(2)
        elif " autopar.kernel " in line or line.startswith("    autopar.kernel "):
            raise ValueError(f"a kernel without a name: {line[:200]}")
        elif op := OP.search(line):
            yield (node, op.group(1)), called


def count(case, work, target):
    """Calls that were priced, calls that were made, and what became loops."""
    folder = os.path.join(SMALL, case.model)
    stem = os.path.join(work, re.sub(r"[ ,=]", "_", str(case)))
    dumps = stem + ".phases"
    command = compile_command(case, folder, stem, target) + ["--stop-after", "schedule", "--dump-phases", dumps]
    code, text = run(command)
    if code:
        raise ValueError(f"compile ended with {code}: {text[-600:]}")
    code, whole = run([find_tool("autopar-opt"), os.path.join(dumps, "3-plan.mlir"), "--autopar-form-kernels"])
    if code:
        raise ValueError(f"autopar-opt ended with {code}: {whole[-600:]}")
    with open(os.path.join(dumps, "5-schedule.mlir")) as file:
        scheduled = list(library_ops(file.read()))
    priced = {op for op, called in library_ops(whole) if called}
    return len(priced), sum(called for _, called in scheduled), [op for op, called in scheduled if op in priced and not called]


def guarded(case, work, target):
    try:
        return (*count(case, work, target), "")
    except (OSError, ValueError) as error:
        return 0, 0, [], str(error)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--full", action="store_true", help="every case; without it a sample")
    arguments.add_argument("--target", choices=DEVICES, default="cpu")
    arguments.add_argument("--models", default="", help="only these models, separated by commas")
    arguments.add_argument("--jobs", type=int, default=2)
    options = arguments.parse_args()
    end_without(SMALL)
    models = options.models.split(",") if options.models else all_models(SMALL)
    matrix = cases_of if options.target == "cpu" else gpu_cases_of
    cases = [case for model in models for case in matrix(model, facts_of(os.path.join(SMALL, model, "model.onnx")))]
    cases = cases if options.full else sample_of(cases, options.target)
    failed = all_priced = all_made = 0
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(options.jobs) as pool:
        for case, (priced, made, loops, error) in zip(cases, pool.map(lambda case: guarded(case, work, options.target), cases)):
            all_priced, all_made = all_priced + priced, all_made + made
            failed += bool(error or loops)
            if error or loops:
                print(f"FAIL: {case}: {error or ', '.join(map(str, loops))}", flush=True)
    print(f"{all_priced} library calls priced, {all_made} made")
    if not all_priced:
        print("FAIL: no case has a library call")
        failed = max(failed, 1)
    print(f"{len(cases) - failed} passed, {failed} failed, 0 skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
