"""Where built programs and libraries look for the libraries that they load.

    python test/Lint/check_rpaths.py FOLDER_OR_FILE...

An element of DT_RPATH or DT_RUNPATH must be an absolute folder or begin with $ORIGIN: an empty or relative one is found from the
current folder, whose libraries may be a stranger's. A failure is a line `file: what, and what to do`. The last line counts ELF
files: "N passed, N failed, 0 skipped"; without any the check fails.
"""

import os
import re
import subprocess
import sys

ENTRY = re.compile(r"\((RPATH|RUNPATH)\)\s+Library \w+: \[(.*)\]")


def files(paths):
    """The plain files that the paths name or hold."""
    for path in paths:
        if os.path.isfile(path):
            yield path
        for folder, _, names in os.walk(path):
            yield from (os.path.join(folder, name) for name in sorted(names) if os.path.isfile(os.path.join(folder, name)))


def loads_libraries(path):
    """Whether it is an ELF file that is executable or shared."""
    with open(path, "rb") as file:
        head = file.read(18)
    return head[:4] == b"\x7fELF" and head[16] in (2, 3)


def open_elements(path):
    """The elements that lead to the current folder."""
    table = subprocess.run(["llvm-readelf", "--dynamic-table", path], capture_output=True, text=True, check=True).stdout
    for kind, text in ENTRY.findall(table):
        for element in text.split(":"):
            if not re.match(r"/|\$ORIGIN(/|$)|\$\{ORIGIN\}(/|$)", element):
                yield kind, text, element


def main():
    passed = failed = 0
    for path in filter(loads_libraries, files(sys.argv[1:])):
        found = list(open_elements(path))
        for kind, text, element in found:
            print(f"{path}: {kind} [{text}] has the element '{element}', which is found from the current folder: "
                  "link it with absolute folders or with $ORIGIN")
        passed, failed = passed + (not found), failed + bool(found)
    if not passed + failed:
        print("no ELF file is here: build first")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return int(failed > 0 or passed == 0)


if __name__ == "__main__":
    sys.exit(main())
