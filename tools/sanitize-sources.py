#!/usr/bin/env python3
"""Links the compiler's tools anew, with some sources watched by the address sanitizer: sanitize-sources.py BUILD OUT SOURCE...

The sources, from the root, are compiled as BUILD has them compiled, with the sanitizer, and take the place of BUILD's objects in
their libraries. OUT/bin then has autopar, autopar-import and autopar-opt.
"""

import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

TOOLS = ["autopar", "autopar-import", "autopar-opt"]
FLAGS = ["-O1", "-g1", "-fsanitize=address", "-fno-sanitize=vptr", "-fno-omit-frame-pointer"]


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{shlex.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def compile_source(entry, target):
    """The source's object in `target`: headers that were precompiled without the sanitizer are not for it."""
    words = shlex.split(entry["command"])
    for at in [i for i, word in enumerate(words) if word in ("-include-pch", "-include") and "cmake_pch" in words[i + 1]][::-1]:
        del words[at:at + 2]
    words[words.index("-o") + 1] = target
    os.makedirs(os.path.dirname(target), exist_ok=True)
    run(["ccache", *words, *FLAGS], entry["directory"])


def main():
    build, out = (os.path.abspath(path) for path in sys.argv[1:3])
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    wanted = {os.path.realpath(os.path.join(root, source)) for source in sys.argv[3:]}
    with open(os.path.join(build, "compile_commands.json")) as file:
        entries = json.load(file)
    # Objects by the library that has them: lib/Planning/CMakeFiles/AutoparSearch.dir/Search.cpp.o.
    libraries, work = {}, []
    for entry in entries:
        words = shlex.split(entry["command"])
        place = words[words.index("-o") + 1]
        library = next(part[:-len(".dir")] for part in place.split("/") if part.endswith(".dir"))
        target = os.path.join(out, "objects", place)
        watched = os.path.realpath(entry["file"]) in wanted
        libraries.setdefault(f"lib{library}.a", []).append((watched, target if watched else place))
        if watched:
            work.append((entry, target))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda each: compile_source(*each), work))
    for folder in ("bin", "lib"):
        os.makedirs(os.path.join(out, folder), exist_ok=True)
    replaced = {}
    for library, objects in libraries.items():
        if any(watched for watched, _ in objects):
            replaced[library] = os.path.join(out, "lib", library)
            if os.path.exists(replaced[library]):
                os.remove(replaced[library])
            run(["ar", "qcS", replaced[library], *[place for _, place in objects]], build)
            run(["ranlib", replaced[library]], build)
    for tool in TOOLS:
        line = run(["ninja", "-t", "commands", f"bin/{tool}"], build).strip().splitlines()[-1]
        words = shlex.split(line.removeprefix(": && ").split(" && ")[0])
        # The sanitizer has an allocator of its own.
        words = [replaced.get(os.path.basename(word), word) for word in words if "tcmalloc" not in word]
        words[words.index("-o") + 1] = os.path.join(out, "bin", tool)
        run([*words, "-fsanitize=address"], build)


if __name__ == "__main__":
    main()
