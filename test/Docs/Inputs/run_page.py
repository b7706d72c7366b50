"""Runs the commands that a page shows and looks for the lines below them in what they print.

    run_page.py PAGE FOLDER [--only TEXT] [--instead OLD=>NEW]...

A command is an indented line that begins with `$ `; the indented lines below it, up to the next command or the block's end, must be there, in
their order, whatever else is printed (`...`). FOLDER gets build/bin, build/venv and, for a page of docs, docs, so that commands run as they are written;
--instead changes some of their text. --only takes those commands that hold the text. Lines `step: median`, `time:` and seconds of a log are measured: they are not compared.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys

MEASURED = re.compile(r"^(step: median|time: )|\"seconds\":")


def commands_of(page):
    """Pairs (command, lines below it)."""
    found, inside = [], False
    with open(page, encoding="utf-8") as file:
        for line in file:
            if line.startswith("    $ "):
                found.append((line[6:].split("  # ")[0].strip(), []))
                inside = True
            elif line.startswith("    ") and inside and line.strip():
                found[-1][1].append(line.strip())
            else:
                inside = False
    return found


def missing(wanted, printed):
    """The first wanted line that is not printed after those before it, or None."""
    printed = [" ".join(line.split()) for line in printed]
    at = 0
    for line in wanted:
        if line == "..." or MEASURED.search(line):
            continue
        rest = [number for number in range(at, len(printed)) if printed[number] == " ".join(line.split())]
        if not rest:
            return line
        at = rest[0] + 1
    return None


def prepare(folder, page):
    """What commands find where they are written to run."""
    os.makedirs(os.path.join(folder, "build"), exist_ok=True)
    links = [("build/bin", os.path.dirname(shutil.which("autopar"))), ("build/venv", sys.prefix)]
    pages = os.path.dirname(os.path.abspath(page))
    if os.path.basename(pages) == "docs":
        links.append(("docs", pages))
    for link, target in links:
        path = os.path.join(folder, link)
        if not os.path.lexists(path):
            os.symlink(target, path)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("page", "folder"):
        arguments.add_argument(name)
    arguments.add_argument("--only", default="", metavar="TEXT")
    arguments.add_argument("--instead", action="append", default=[])
    options = arguments.parse_args()
    prepare(options.folder, options.page)
    failed, compared, chosen = 0, 0, [pair for pair in commands_of(options.page) if options.only in pair[0]]
    for command, wanted in chosen:
        shown = command
        for change in options.instead:
            old, new = change.split("=>")
            command = command.replace(old, new)
        ran = subprocess.run(["bash", "-c", command], cwd=options.folder, capture_output=True, text=True, timeout=600)
        printed = ran.stdout.split() if command.startswith("ls ") else ran.stdout.splitlines()
        line = missing(" ".join(wanted).split() if command.startswith("ls ") else wanted, printed)
        compared += len(wanted)
        if ran.returncode or line:
            failed += 1
            why = f"exit code {ran.returncode}: {ran.stderr[-400:]}" if ran.returncode else f"no line '{line}' in\n{ran.stdout}"
            print(f"FAIL: {shown}: {why}")
    print(f"{os.path.basename(options.page)}: {len(chosen)} commands, {compared} lines, {failed} failed")
    return failed > 0 or not chosen


if __name__ == "__main__":
    raise SystemExit(main())
