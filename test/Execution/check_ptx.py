"""Compiles the GPU kernels of the shared models for sm_80, sm_90 and sm_100 and asks ptxas what they need.

    python test/Execution/check_ptx.py [--full] [--models NAME,...] [--only TEXT] [--arch sm_80,...] [--jobs N]

One line per distinct kernel: threads of a block, then registers, shared and local bytes on each architecture. A kernel fails
that ptxas refuses, that spills registers, or that keeps more than 64 bytes of local memory (the slow paths of sin and cos keep
40). Without ptxas or libdevice (a CUDA toolkit, or the packages nvidia-cuda-nvcc and nvidia-nvvm) there is nothing to check.
The last line counts programs: "N passed, N failed, N skipped".
"""

import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))

from autopar import find_tool  # noqa: E402
from model_matrix import all_models, facts_of, gpu_cases_of  # noqa: E402
from run_models import compile_command  # noqa: E402
from shared_models import SMALL, end_without  # noqa: E402

MOST_LOCAL_BYTES = 64
PRECISIONS = ["bf16", "fp16"]  # besides fp32
USED = re.compile(r"Function properties for (\w+)\s+(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads\s+"
                  r"ptxas info\s+: Used (\d+) registers([^\n]*)")


def toolkits():
    """Where the compiler looks for CUDA, in its order, and the environment of this Python."""
    roots = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH")]
    if shutil.which("ptxas"):
        roots.append(os.path.dirname(os.path.dirname(shutil.which("ptxas"))))
    for environment in (os.environ.get("VIRTUAL_ENV"), sys.prefix):
        if environment:
            roots += sorted(glob.glob(os.path.join(environment, "lib", "python3*", "site-packages", "nvidia", "cu*")))
    roots += ["/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda", "/usr/lib/nvidia-cuda-toolkit"]
    return [root for root in roots if root]


def find_ptxas():
    """None where there is none."""
    given = os.environ.get("AUTOPAR_PTXAS")
    found = [os.path.join(root, "bin", "ptxas") for root in toolkits()]
    return given or next((path for path in found if os.access(path, os.X_OK)), shutil.which("ptxas"))


def find_libdevice():
    """None where there is none."""
    given = os.environ.get("AUTOPAR_LIBDEVICE")
    found = [os.path.join(root, folder, "libdevice.10.bc") for root in toolkits() for folder in ("nvvm/libdevice", "libdevice")]
    return next((path for path in ([given] if given else found) if os.path.exists(path)), None)


def what_is_missing():
    """What the check cannot do without, in words; "" if all is there."""
    if not find_ptxas():
        return "no ptxas (pip install nvidia-cuda-nvcc nvidia-nvvm)"
    return "" if find_libdevice() else "no libdevice (pip install nvidia-nvvm, or let AUTOPAR_LIBDEVICE name the file)"


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, **options)
    if done.returncode:
        lines = [line for line in (done.stderr or done.stdout).strip().splitlines() if "rror" in line]
        raise RuntimeError((lines or ["no message"])[0][:300])
    return done


def entries_of(ptx):
    """{kernel: its text without its name}"""
    parts = re.split(r"(?=\.visible \.entry )", ptx)[1:]
    names = [re.match(r"\.visible \.entry (\w+)", part)[1] for part in parts]
    return {name: part.replace(name, "") for name, part in zip(names, parts)}


def usage_of(ptxas, ptx, arch, work):
    """{kernel: (registers, shared bytes, local bytes, spilled bytes)}"""
    source = os.path.join(work, "kernels.ptx")
    with open(source, "w") as file:
        file.write(ptx)
    said = run([ptxas, "-v", "-arch", arch, "-o", os.path.join(work, "kernels.cubin"), source]).stderr
    usage = {}
    for name, local, stores, loads, registers, rest in USED.findall(said):
        shared = re.search(r"(\d+) bytes smem", rest)
        usage[name] = (int(registers), int(shared[1]) if shared else 0, int(local), int(stores) + int(loads))
    return usage


class Check:
    def __init__(self, ptxas, archs):
        self.ptxas, self.archs, self.known = ptxas, archs, set()

    def program(self, case, precision):
        """Lines about its new kernels, and what is wrong."""
        with tempfile.TemporaryDirectory() as work:
            stem = os.path.join(work, "program")
            command = compile_command(case, os.path.join(SMALL, case.model), stem, "cuda")
            run(command + ["--stop-after", "lower", "--precision", precision])
            printed = {arch: run([find_tool("autopar-opt"), stem, f"--autopar-print-ptx=arch={arch}", "-o", os.devnull]).stdout
                       for arch in self.archs}
            usage = {arch: usage_of(self.ptxas, printed[arch], arch, work) for arch in self.archs}
        lines, wrong = [], []
        for name, text in entries_of(printed[self.archs[0]]).items():
            used = [usage[arch].get(name) for arch in self.archs]
            if None in used:
                wrong.append(f"{name}: ptxas tells nothing of it")
                continue
            wrong += [f"{name} for {arch}: {local} bytes of local memory, {spilled} spilled"
                      for arch, (_, _, local, spilled) in zip(self.archs, used) if spilled or local > MOST_LOCAL_BYTES]
            if text not in self.known:
                self.known.add(text)
                threads = re.search(r"\.(?:reqntid|maxntid) (\d+)", text)
                lines.append(f"  {name:<28} {threads[1] if threads else '?':>4} threads  "
                             + "  ".join(f"{r:>3} regs {s:>5} shared {l:>2} local" for r, s, l, _ in used))
        return lines, wrong


def programs(options):
    """(case, precision) in order."""
    for model in all_models(SMALL):
        if options.models and model not in options.models.split(","):
            continue
        cases = [case for case in gpu_cases_of(model, facts_of(os.path.join(SMALL, model, "model.onnx")))
                 if options.only in str(case)]
        chosen = cases if options.full else cases[:1] + cases[3::9]
        yield from ((case, "fp32") for case in chosen)
        yield from ((case, precision) for case in chosen[:1] for precision in PRECISIONS)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="every plan that run_models.py --target emulated has")
    parser.add_argument("--models", default="")
    parser.add_argument("--only", default="", help="cases whose name holds this text")
    parser.add_argument("--arch", default="sm_80,sm_90,sm_100")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    end_without(SMALL)
    if missing := what_is_missing():
        print("nothing to check: " + missing)
        print("0 passed, 0 failed, 1 skipped")
        return
    os.environ["AUTOPAR_LIBDEVICE"] = find_libdevice()
    chosen = list(programs(options))
    if not chosen:
        sys.exit("no program has this --models and --only")
    check, failed, passed = Check(find_ptxas(), options.arch.split(",")), 0, 0
    print("registers, shared and local bytes on " + ", ".join(check.archs))

    def attempt(program):
        try:
            return check.program(*program)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            return [], [str(error)]

    with ThreadPoolExecutor(options.jobs) as pool:
        for (case, precision), (lines, wrong) in zip(chosen, pool.map(attempt, chosen)):
            print(f"{'FAILED' if wrong else 'ok'} {case} {precision}", *lines, *("  " + text for text in wrong), sep="\n", flush=True)
            failed += bool(wrong)
            passed += not wrong
    print(f"{len(check.known)} distinct kernels")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
