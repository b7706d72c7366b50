"""Counts lines of code, without comments and blanks, per folder of lib/ and include/autopar/.

    python tools/count-lines.py [--root FOLDER] [--commit NAME] [--rooms LIBRARY]

A row per library (a folder of lib/ with its headers): files, lines of code, the share of comments among lines that are not blank,
and the median lengths of files and of functions, in lines as they stand. A function is a definition outside of classes. The last row
is all of lib/ and include/. With --rooms the folders in one library are rows of their own. --commit counts a commit of the
repository instead of the files on disk.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
from collections import defaultdict

ENDINGS = (".cpp", ".h", ".td")
NO_FUNCTION = re.compile(r"(namespace|struct|class|enum|union|extern|static const|constexpr|#|//|\}|\s)")


def sources(root, commit):
    """Pairs of a path in the tree and its lines."""
    def git(*arguments):
        return subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=True).stdout

    paths = git("ls-tree", "-r", "--name-only", commit) if commit else git("ls-files", "--cached", "--others", "--exclude-standard")
    for path in paths.splitlines():
        if re.match(r"lib/|include/", path) and path.endswith(ENDINGS) and (commit or os.path.exists(os.path.join(root, path))):
            if commit:
                yield path, git("show", f"{commit}:{path}").splitlines()
            else:
                with open(os.path.join(root, path), encoding="utf-8") as file:
                    yield path, file.read().splitlines()


def is_comment(line):
    return line.lstrip().startswith("//")


def function_lengths(lines):
    """Lengths of the definitions that begin in the first column and end with a brace there."""
    start = None
    for number, line in enumerate(lines):
        if start is None and line and not NO_FUNCTION.match(line):
            start = number
        if start is not None and line.endswith(";") and "{" not in "".join(lines[start:number + 1]):
            start = None
        elif start is not None and line.startswith("}"):
            if line == "}" and "(" in "".join(lines[start:number]):
                yield number - start + 1
            start = None


def folder_of(path, rooms):
    parts = path.split("/")
    depth = 1 if parts[0] == "lib" else 2
    if rooms and parts[depth] == rooms:
        return "/".join(parts[depth:-1])
    return parts[depth] if len(parts) > depth + 1 else "."


class Count:
    def __init__(self):
        self.code = self.comments = 0
        self.files, self.functions = [], []

    def add(self, lines):
        filled = [line for line in lines if line.strip()]
        comments = sum(map(is_comment, filled))
        self.comments += comments
        self.code += len(filled) - comments
        self.files.append(len(lines))
        self.functions += function_lengths(lines)

    def row(self, name):
        share = 100 * self.comments / max(1, self.comments + self.code)
        functions = statistics.median(self.functions) if self.functions else 0
        return f"{name:24} {len(self.files):5} {self.code:7} {share:8.1f}% {statistics.median(self.files):6.0f} {functions:9.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    parser.add_argument("--commit", default="")
    parser.add_argument("--rooms", default="", metavar="LIBRARY")
    options = parser.parse_args()
    counts, whole = defaultdict(Count), Count()
    for path, lines in sources(options.root, options.commit):
        counts[folder_of(path, options.rooms)].add(lines)
        whole.add(lines)
    if not counts:
        sys.exit("there are no sources in lib/ and include/ here")
    print(f"{'folder':24} {'files':>5} {'code':>7} {'comments':>9} {'file':>6} {'function':>9}")
    for name in sorted(counts):
        print(counts[name].row(name))
    print(whole.row("lib and include"))


if __name__ == "__main__":
    main()
