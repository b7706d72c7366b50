#!/usr/bin/env python3
"""Checks the runtime's tables of CUDA functions against released libraries.

    test/Runtime/check_cuda_libraries.py [--checker build/bin/autopar-check-libraries]

Takes cuBLASLt, cuDNN and NCCL from PyPI, each in its newest release and in one
more than a year older, about 3 GB to fetch and unpack, and for each set
  - compares every constant, structure and function that runtime/cuda/*Api.h
    declares with the headers (cuda.h of the CUDA runtime's package stands for
    libcuda, which comes with the driver only),
  - loads the libraries, without a GPU too, and resolves every function,
  - sees that a start without a device ends in an error that says so,
  - has the libraries check the descriptors that plans of GEMMs and
    convolutions make (cuDNN wants to be linked to some libcuda for that: one
    without a device is made).
Prints a line for each and, at the end, "N passed, M failed".
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Packages of each set. The older ones are of early 2024.
SETS = {
    "newest": ["nvidia-cublas", "nvidia-cudnn-cu13", "nvidia-nccl-cu13", "nvidia-cuda-nvrtc",
               "nvidia-cuda-runtime", "nvidia-cuda-crt", "nvidia-cuda-cccl"],
    "older": ["nvidia-cublas-cu12==12.4.5.8", "nvidia-cudnn-cu12==9.1.0.70", "nvidia-nccl-cu12==2.20.5",
              "nvidia-cuda-nvrtc-cu12==12.4.127", "nvidia-cuda-runtime-cu12==12.4.127", "nvidia-cuda-nvcc-cu12==12.4.131",
              "nvidia-cuda-cccl-cu12==12.9.27"],
}

# Our header -> those of the library.
HEADERS = {
    "DriverApi.h": ["cuda.h"],
    "CublasLtApi.h": ["cublasLt.h"],
    "CudnnApi.h": ["cudnn.h"],
    "NcclApi.h": ["nccl.h"],
}

# Constants that older libraries lack; the runtime does without.
NEWER = {"CUBLASLT_MATRIX_LAYOUT_BATCH_MODE", "CUBLASLT_BATCH_MODE_STRIDED", "CUBLASLT_BATCH_MODE_POINTER_ARRAY"}

# Every parameter has the size and the kind of the library's.
SAME_CALL = r"""
template <typename A, typename B> constexpr bool sameValue() {
  constexpr bool wholeA = std::is_integral_v<A> || std::is_enum_v<A>;
  constexpr bool wholeB = std::is_integral_v<B> || std::is_enum_v<B>;
  if constexpr (std::is_void_v<A> || std::is_void_v<B>)
    return std::is_void_v<A> && std::is_void_v<B>;
  else
    return sizeof(A) == sizeof(B) && wholeA == wholeB &&
           std::is_pointer_v<A> == std::is_pointer_v<B> &&
           std::is_floating_point_v<A> == std::is_floating_point_v<B>;
}
template <typename A, typename B> struct SameCall : std::false_type {};
template <typename RA, typename... A, typename RB, typename... B>
struct SameCall<RA (*)(A...), RB (*)(B...)> {
  static constexpr bool test() {
    if constexpr (sizeof...(A) == sizeof...(B))
      return sameValue<RA, RB>() && (sameValue<A, B>() && ...);
    else
      return false;
  }
  static constexpr bool value = test();
};
"""


def run(command, **options):
    return subprocess.run([str(word) for word in command], text=True, capture_output=True, **options)


def fetch(packages, folder):
    """Unpacks the packages into `folder`; their names and versions."""
    names = []
    for package in packages:
        with tempfile.TemporaryDirectory(dir=folder.parent) as wheels:
            result = run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", wheels,
                          package])
            if result.returncode:
                sys.exit(f"pip cannot fetch {package}: {result.stderr.strip()}")
            for wheel in pathlib.Path(wheels).glob("*.whl"):
                names.append(" ".join(wheel.name.split("-")[:2]))
                zipfile.ZipFile(wheel).extractall(folder)
    return names


def declarations(header):
    """Constants, and structures with their members, of one of our headers."""
    text = re.sub(r"//.*", "", (ROOT / "runtime/cuda" / header).read_text())
    constants = []
    for body in re.findall(r"enum \w+ \{(.*?)\};", text, re.S):
        constants += re.findall(r"(\w+)\s*=", body)
    constants += re.findall(r"constexpr int (NCCL_\w+) =", text)
    structures = {}
    for name, body in re.findall(r"^struct (\w+) \{(.*?)^\};", text, re.S | re.M):
        members = []
        for line in body.split(";"):
            line = line.split("=")[0].strip()
            members += [re.sub(r"\[.*\]", "", word.split()[-1]).lstrip("*") for word in line.split(",") if word.split()]
        structures[name] = members
    return constants, structures


def functions(checker):
    """(our header, name, whether a library may lack it) of every function."""
    rows = []
    for line in run([checker, "--list"]).stdout.splitlines():
        header, *rest = line.split()
        ours = next(name for name, theirs in HEADERS.items() if theirs == [header])
        rows.append((ours, rest[-1], len(rest) == 2))
    return rows


def comparison(header, rows, includes):
    """C++ that compiles if one of our headers agrees with the library's."""
    constants, structures = declarations(header)
    table = header[:-2]
    theirs = " ".join(path.read_text(errors="replace") for path in includes)
    calls = [(name, optional) for ours, name, optional in rows if ours == header]
    lines = [f'#include "cuda/{header}"', "#include <cstddef>", "#include <type_traits>", SAME_CALL,
             f"using Table = autopar::runtime::{table};"]
    lines += [f"using Ours_{name} = decltype(Table::{name});" for name, _ in calls]
    lines += [f"constexpr long long our_{name} = (long long)(autopar::runtime::{name});" for name in constants]
    lines += [f"using Our_{name} = autopar::runtime::{name};" for name in structures]
    for name, members in structures.items():
        lines += [f"constexpr size_t our_{name}_{member} = offsetof(Our_{name}, {member});" for member in members]
    lines += ["#define __CUDA_API_VERSION_INTERNAL" if header == "DriverApi.h" else "", f"#include <{HEADERS[header][0]}>"]
    checks = 0
    for name, optional in calls:
        if optional and not re.search(rf"\b{name}\b", theirs):
            continue
        lines += [f"#undef {name}", f'static_assert(SameCall<Ours_{name}, decltype(&::{name})>::value, "{name}");']
        checks += 1
    constants = [name for name in constants if name not in NEWER or re.search(rf"\b{name}\b", theirs)]
    for name in constants:
        lines.append(f'static_assert(our_{name} == (long long)({name}), "{name}");')
    for name, members in structures.items():
        lines.append(f'static_assert(sizeof(Our_{name}) <= sizeof(::{name}), "{name}");')
        lines += [f'static_assert(our_{name}_{member} == offsetof(::{name}, {member}), "{name}.{member}");'
                  for member in members]
    return "\n".join(lines) + "\n", checks + len(constants) + sum(1 + len(m) for m in structures.values())


class Report:
    def __init__(self):
        self.passed = self.failed = 0

    def say(self, good, what):
        print(("ok      " if good else "FAILED  ") + what, flush=True)
        self.passed += good
        self.failed += not good


def compare_headers(report, folder, compiler, checker):
    rows = functions(checker)
    include = sorted(folder.glob("nvidia/*/include"))
    flags = [f"-I{path}" for path in include]
    for header, theirs in HEADERS.items():
        found = [path for name in theirs for path in folder.rglob(name)]
        if not found:
            report.say(False, f"{header}: no {theirs[0]} in the packages")
            continue
        source, checks = comparison(header, rows, [path for parent in include for path in parent.glob("*.h")])
        place = folder / f"check_{header}.cpp"
        place.write_text(source)
        result = run([compiler, "-std=c++17", "-fsyntax-only", "-w", "-I", ROOT / "runtime", "-I", ROOT / "runtime/include",
                      *flags, place])
        errors = [line for line in result.stderr.splitlines() if "error" in line]
        report.say(result.returncode == 0, f"{header}: {checks} declarations against {theirs[0]}")
        for line in errors[:10]:
            print("        " + line)


def load(report, folder, checker):
    environment = {**os.environ, "AUTOPAR_CUDA_PATH": str(folder)}
    result = run([checker], env=environment)
    for line in result.stdout.splitlines():
        if line.startswith("device: "):
            report.say(line.startswith("device: no device: ") or "(sm_" in line, line)
        else:
            report.say(" all of " in line, line.replace(str(folder) + "/", ""))
    if result.returncode and not result.stdout:
        report.say(False, f"{checker} ended with {result.returncode}: {result.stderr.strip()}")


def make_driver(folder, compiler):
    """A libcuda with the functions that the libraries are linked to, all of which find no device; its folder."""
    place = folder / "driver"
    place.mkdir(exist_ok=True)
    wanted = set()
    for library in folder.glob("nvidia/*/lib/*.so*"):
        symbols = run(["nm", "-D", "--undefined-only", library]).stdout
        wanted |= set(re.findall(r" (cu[A-Z]\w+)", symbols))
    source = place / "driver.cpp"
    source.write_text("".join(f'extern "C" int {name}() {{ return 100; }}\n' for name in sorted(wanted)))
    result = run([compiler, "-shared", "-fPIC", "-w", "-Wl,-soname,libcuda.so.1", "-o", place / "libcuda.so.1", source])
    return place if result.returncode == 0 else None


def check_descriptors(report, folder, checker, compiler):
    driver = make_driver(folder, compiler)
    if not driver:
        report.say(False, "a libcuda without a device cannot be made")
        return
    environment = {**os.environ, "AUTOPAR_CUDA_PATH": str(folder),
                   "LD_LIBRARY_PATH": f"{driver}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
    result = run([checker, "--descriptors"], env=environment)
    for line in result.stdout.splitlines():
        if ": accepts " in line:
            report.say(line.endswith("refuses 0"), line)
        else:
            print("        " + line)
    if ": accepts " not in result.stdout:
        report.say(False, f"{checker} --descriptors ended with {result.returncode}: {result.stderr.strip()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checker", type=pathlib.Path, default=ROOT / "build/bin/autopar-check-libraries")
    parser.add_argument("--compiler", default=os.environ.get("CXX", "c++"))
    parser.add_argument("--folder", type=pathlib.Path, help="keeps the packages there, and takes those it finds there")
    parser.add_argument("--set", choices=SETS, action="append", help="default: all")
    options = parser.parse_args()
    if not options.checker.exists():
        sys.exit(f"{options.checker} is not there: build the target autopar-check-libraries")
    report = Report()
    base = options.folder or pathlib.Path(tempfile.mkdtemp(prefix="autopar-cuda-"))
    try:
        for name in options.set or SETS:
            folder = base / name
            fetched = folder.exists()
            folder.mkdir(parents=True, exist_ok=True)
            names = [] if fetched else fetch(SETS[name], folder)
            print(f"{name}: {', '.join(names) or folder}")
            compare_headers(report, folder, options.compiler, options.checker)
            load(report, folder, options.checker)
            check_descriptors(report, folder, options.checker, options.compiler)
            if not options.folder:
                shutil.rmtree(folder)
    finally:
        if not options.folder:
            shutil.rmtree(base, ignore_errors=True)
    print(f"{report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
