"""Lints of the tree: rules that neither the compiler nor another test would see broken.

    python test/Lint/lint.py [--root FOLDER]

A failure is a line `file:line: what, and what to do`. The last line counts rules: "N passed, N failed, 0 skipped". Of a git
checkout the tracked files are read, of another folder all but build*/ and names that begin with a dot.
"""

import argparse
import fnmatch
import os
import re
import subprocess
import sys
from functools import lru_cache

FOLDERS = ("lib", "include", "runtime", "tools", "test", "python", "docs")
ROOT_FILES = {"CMakeLists.txt", "CMakePresets.json", "README.md", "LICENSE", "CONTRIBUTING.md", "CHANGELOG.md"}
COMPUTE_OPS = "include/autopar/Dialect/ComputeOps.td"
DIALECT = "include/autopar/Dialect/Dialect.td"
METADATA = {"autopar.parameters"}  # names that ONNX files have, which look like those of attributes
LIBRARIES = "lib/CMakeLists.txt"
ROOMS = "lib/Planning/CMakeLists.txt"
UNTESTED = "test/Lint/untested.txt"
MOST_UNTESTED = 7  # as many as stand in UNTESTED today; lower it with the list
OPEN_LIBRARIES = ("Cost", "Planning", "Partition", "Schedule")  # they know no compute op
PROVER = {"Equality", "Dialect", "Interfaces"}  # what Equality includes: nothing that made the program it proves
MOST_LINES = 400
INTERFACES = "include/autopar/Interfaces/Interfaces.td"
GUIDES = {"docs/AddingAnOp.md": 6, "docs/AddingAPass.md": 5, "docs/AddingAnOption.md": 2,
          "docs/AddingASolver.md": 6}  # with the most files that what they add may cost
INCLUDE = re.compile(r'\s*#?\s*include\s+[<"]([^>"]+)[>"]')


class Tree:
    """The files of a folder, as paths relative to it."""

    def __init__(self, root):
        self.root = root
        self.files = sorted(path for path in tracked(root) or walked(root) if os.path.isfile(os.path.join(root, path)))
        self.folders = {path[:match.start()] for path in self.files for match in re.finditer("/", path)}

    @lru_cache(maxsize=None)
    def lines(self, path):
        if path not in self.files:
            return []
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            return file.read().splitlines()

    def sources(self, folders, endings):
        """Files in `folders` with one of the endings, without what tests read."""
        return [path for path in self.files if path.split("/")[0] in folders and path.endswith(endings) and "/Inputs/" not in path]

    def includes(self, path):
        """Of each include its line and what it names: a path from this tree's root where it is one of another folder's, else as written."""
        for number, line in enumerate(self.lines(path), 1):
            if match := INCLUDE.match(line):
                name = match[1]
                yield number, os.path.normpath(os.path.join(os.path.dirname(path), name)) if name.startswith("../") else name

    def holds(self, pattern):
        """Whether a file or folder matches, `*` and `<Placeholder>` standing for anything."""
        pattern = re.sub("<[^<>]*>", "*", pattern.rstrip("/"))
        return pattern in self.folders or any(fnmatch.fnmatchcase(path, pattern) for path in [*self.files, *self.folders])


def tracked(root):
    """What git tracks, or nothing where `root` is not the top of a checkout."""
    def git(*arguments):
        done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True)
        return done.stdout if done.returncode == 0 else ""

    try:
        top = git("rev-parse", "--show-toplevel").strip()
    except FileNotFoundError:
        return []
    return git("ls-files", "-z").split("\0")[:-1] if top and os.path.realpath(top) == os.path.realpath(root) else []


def walked(root):
    for folder, inner, names in os.walk(root):
        top = os.path.samefile(folder, root)
        inner[:] = [name for name in inner if not name.startswith((".", "__pycache__") + ("build",) * top)]
        yield from (os.path.relpath(os.path.join(folder, name), root) for name in names)


def library_of(path):
    """The library that a path of lib/ or include/autopar/, or an include of `autopar/Library/...`, belongs to, or ""."""
    match = re.match(r"(?:lib|include/autopar|autopar)/([A-Z]\w*)/", path)
    return match[1] if match else ""


def subdirectories(tree, path):
    found = (re.match(r"\s*add_subdirectory\((\w+)", line) for line in tree.lines(path))
    return list(dict.fromkeys(match[1] for match in found if match))


def check_library_order(tree):
    """A library includes only libraries before it in lib/CMakeLists.txt, and Equality the dialect alone."""
    order = subdirectories(tree, LIBRARIES)
    for path in tree.sources(("lib", "include"), (".h", ".cpp", ".td")):
        library = library_of(path)
        if library and library not in order:
            yield path, 1, f"{library} is no library of {LIBRARIES}: add it there, at its place in the order"
            continue
        for number, name in tree.includes(path):
            other = library_of(name)
            if not other or not library:
                continue
            if other not in order or order.index(other) > order.index(library):
                yield path, number, (f"{library} includes {name} of a library after it: move the code there, or what it "
                                     f"needs to a library before both ({LIBRARIES} has the order)")
            elif library == "Equality" and other not in PROVER:
                yield path, number, f"Equality includes {name}: it proves by the dialect alone, so write here what it needs"


def check_rooms(tree):
    """A room of Planning includes only rooms before it in lib/Planning/CMakeLists.txt, and nothing of the IR."""
    order = subdirectories(tree, ROOMS)
    for path in tree.sources(("lib", "include"), (".h", ".cpp")):
        match = re.match(r"(?:lib|include/autopar)/Planning/(\w+)/", path)
        if not match:
            continue
        room = match[1]
        if room not in order:
            yield path, 1, f"{room} is no room of {ROOMS}: add it there, at its place in the order"
            continue
        for number, name in tree.includes(path):
            other = re.match(r"(?:lib|autopar)/Planning/(?:(\w+)/)?", name)
            if name.startswith("mlir/") or library_of(name) == "Dialect" or (other and not other[1]):
                yield path, number, f"{room} includes {name}: rooms know no IR, so read it in lib/Planning and pass plain data"
            elif other and (other[1] not in order or order.index(other[1]) > order.index(room)):
                yield path, number, f"{room} includes {name} of a room after it: move the code there ({ROOMS} has the order)"
            elif other and other[1] != room and name.startswith("lib/"):
                yield path, number, f"{room} includes {name}, which {other[1]} keeps to itself: use a header of include/autopar"
            elif room == order[0] and library_of(name) not in ("", "Planning", "Support"):
                yield path, number, f"{room} includes {name}: solvers see plain data alone"


def check_unit_tests(tree):
    """A source of Planning's rooms has its unit test by its stem, or stands in test/Lint/untested.txt, which only shrinks."""
    untested = {line.strip(): number for number, line in enumerate(tree.lines(UNTESTED), 1) if line.strip() and line[0] != "#"}
    for path in tree.sources(("lib",), (".cpp",)):
        match = re.match(r"lib/(Planning/\w+/\w+)\.cpp$", path)
        if not match:
            continue
        test = f"test/Unit/{match[1]}Test.cpp"
        if test in tree.files and path in untested:
            yield UNTESTED, untested[path], f"{path} has its test: remove the line"
        elif test not in tree.files and path not in untested:
            yield path, 1, f"has no unit test: write {test}"
    for path, number in untested.items():
        if path not in tree.files:
            yield UNTESTED, number, f"{path} does not exist: remove the line"
    if len(untested) > MOST_UNTESTED:
        yield UNTESTED, 1, f"{len(untested)} sources are untested, at most {MOST_UNTESTED} may be: write tests, the list only shrinks"


def check_runtime(tree):
    """The runtime includes no header of LLVM, MLIR or the compiler."""
    for path in tree.sources(("runtime",), (".h", ".cpp", ".c")):
        for number, name in tree.includes(path):
            if library_of(name) or re.match(r"(llvm|mlir|lld|clang)(-c)?/|(lib|include)/", name):
                yield path, number, f"the runtime includes {name}: it links no LLVM and no compiler, so share it through runtime/files"


def check_compute_ops(tree):
    """Cost, Planning, Partition and Schedule name no compute op."""
    found = (re.match(r"def Autopar_(\w+Op)\b", line) for line in tree.lines(COMPUTE_OPS))
    ops = {match[1] for match in found if match}
    if not ops:
        yield COMPUTE_OPS, 1, "no `def Autopar_...Op` is here: let the lint find where compute ops are defined"
    for path in tree.sources(("lib", "include"), (".h", ".cpp", ".td")):
        if library_of(path) not in OPEN_LIBRARIES:
            continue
        for number, line in enumerate(tree.lines(path), 1):
            for space, name in re.findall(r"(?:(\w+)::)?\b(\w+Op)\b", line.split("//")[0]):
                if name in ops and space in ("", "autopar"):
                    yield path, number, f"{library_of(path)} names the compute op {name}: ask an interface of the op"


def check_attribute_names(tree):
    """The dialect declares and describes the name of each attribute, and other files write none as text."""
    declared, described = {}, {}
    for number, line in enumerate(tree.lines(DIALECT), 1):
        if match := re.search(r'StringLiteral \w+ = "(autopar\.\w+)";', line):
            declared[match[1]] = number
        elif line.lstrip().startswith("| `autopar."):
            described.update((name, number) for name in re.findall(r"`(autopar\.\w+)`", line.split("|")[1]))
    if not declared:
        yield DIALECT, 1, "no `StringLiteral ... = \"autopar.` is here: let the lint find where attributes are declared"
    for name in sorted(declared.keys() ^ described.keys()):
        yield (DIALECT, declared[name], f"{name} has no row in the description: add it") if name in declared else \
            (DIALECT, described[name], f"{name} is described, but not declared: remove the row, or declare it")
    text = re.compile(r'(?:String(?:Literal|Ref)\s+\w+\s*=|[gs]et\w*Attr\w*(?:<[\w:]+>)?\([^;]*?|(?:has|remove)\w*Attr\w*\([^;]*?)\s*"(autopar\.\w+)"')
    for path in tree.sources(("lib", "include", "tools"), (".h", ".cpp")):
        lines = "\n".join(tree.lines(path))
        found = {match.start(1): match[1] for match in text.finditer(lines)}
        found.update((match.start(1), match[1]) for match in re.finditer(r'"(autopar\.\w+)"', lines) if match[1] in declared)
        for start, name in sorted(found.items()):
            if name not in METADATA:
                yield path, lines.count("\n", 0, start) + 1, f"the name {name} is text here: write the constant of AutoparDialect in {DIALECT}"


def check_length(tree):
    """No source is longer than 400 lines."""
    for path in tree.sources(("lib", "include", "runtime", "tools", "python"), (".h", ".cpp", ".c", ".td", ".py")):
        if (count := len(tree.lines(path))) > MOST_LINES:
            yield path, MOST_LINES + 1, f"{count} lines of at most {MOST_LINES}: split it by concept"


def check_first_line(tree):
    """C++ and TableGen files begin with their name and what they hold."""
    for path in tree.sources(("lib", "include", "runtime", "tools", "test"), (".h", ".cpp", ".td")):
        start = f"//===- {os.path.basename(path)} - "
        if not (tree.lines(path) or [""])[0].startswith(start):
            yield path, 1, f"does not begin with its name: write `{start}...` in the first line"


def check_guards(tree):
    """Include guards follow the path."""
    for path in tree.sources(("lib", "include", "runtime", "tools", "test"), (".h", ".td")):
        public = re.sub("^(runtime/)?include/autopar/", "", path)
        guard = "AUTOPAR_" + re.sub(r"\W", "_", public).upper()
        lines = enumerate(tree.lines(path), 1)
        number, line = next(((number, line) for number, line in lines if line.startswith("#ifndef")), (1, ""))
        if line.split() != ["#ifndef", guard] or f"#define {guard}" not in tree.lines(path)[number:number + 1]:
            yield path, number, f"the include guard does not follow the path: name it {guard}"


def slugs(tree, path):
    """The anchors of a page's headings, as they are made of them on the web."""
    titles = (line.lstrip("#") for line in tree.lines(path) if re.match("#+ ", line))
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


def pages(tree):
    return [path for path in tree.files if path.endswith(".md") and os.path.dirname(path) in ("", "docs")]


def check_paths(tree):
    """Paths of this tree that a page names exist."""
    for page in pages(tree):
        for number, line in enumerate(tree.lines(page), 1):
            code = [line] if line.startswith("    ") else re.findall("`([^`]+)`", line)
            for word in " ".join(code).split():
                path = re.match(rf"(?:{'|'.join(FOLDERS)})/[\w./*<>-]*", word)
                if path and not tree.holds(path[0].rstrip(".")):
                    yield page, number, f"{path[0]} does not exist: name what is there now, or write <Name> where any may stand"


def check_links(tree):
    """Links of a page to another, and to its headings, lead somewhere."""
    for page in pages(tree):
        for number, line in enumerate(tree.lines(page), 1):
            for link in re.findall(r"\]\(([^)\s]+)\)", line):
                if re.match(r"\w+:", link):
                    continue
                name, _, anchor = link.partition("#")
                target = os.path.normpath(os.path.join(os.path.dirname(page), name)) if name else page
                if not tree.holds(target):
                    yield page, number, f"the link to {link} leads nowhere: {target} does not exist"
                elif anchor and anchor not in slugs(tree, target):
                    yield page, number, f"the link to {link} leads nowhere: {target} has no heading #{anchor}"


def rows(tree, page, title):
    """Of each row of the page's tables whose first column has this title: line, table's number, and cells."""
    table, inside = 0, False
    for number, line in enumerate(tree.lines(page), 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")] if line.startswith("|") else []
        if not inside and cells[:1] == [title]:
            table, inside = table + 1, True
        elif not cells:
            inside = False
        elif inside and set(line) - set("|- "):
            yield number, table, cells


def kernel_facts(tree):
    """The methods of KernelOpInterface that have a default."""
    text = "\n".join(tree.lines(INTERFACES))
    text = text[text.find("def KernelOpInterface"):].split("\ndef ")[0]
    description = r'(?:\[\{.*?\}\]|"[^"]*")'
    return set(re.findall(rf'InterfaceMethod<{description},\s*"[^"]*",\s*"(\w+)",\s*\(ins\)', text, re.DOTALL))


def check_guides(tree):
    """What a guide's tables tell one to write is in the files that they name, in few files, and no fact of an op is left out."""
    for page, most in GUIDES.items():
        cost = set()
        for number, table, cells in rows(tree, page, "file"):
            paths = re.findall("`([^`]+)`", cells[0])
            cost.update(path for path in paths if table == 1)
            texts = re.findall("`([^`]+)`", cells[-1])
            paths += [text for text in texts if "/" in text]
            patterns = [re.sub("<[^<>]*>", "*", path) for path in paths]
            files = [path for path in tree.files if any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)]
            for text in texts:
                wanted = re.compile(re.escape(text).replace(r"<\.\.\.>", "<.*>"))
                if "/" not in text and not any(wanted.search(line) for path in files for line in tree.lines(path)):
                    yield page, number, f"`{text}` is not in {', '.join(paths)}: write what is there now"
        if len(cost) > most:
            yield page, 1, f"its first table has {len(cost)} files of at most {most}: let fewer files know of what is added"
        told = {cells[0].strip("`"): number for number, _, cells in rows(tree, page, "fact")}
        for name in sorted(told.keys() - kernel_facts(tree)):
            yield page, told[name], f"KernelOpInterface has no method {name} with a default: {INTERFACES} has them"
        for name in sorted(kernel_facts(tree) - told.keys()) if told else []:
            yield page, min(told.values()), f"the table leaves out {name} of KernelOpInterface: add its row"


def check_pass_tables(tree):
    """A page's table of the passes of a pipeline has all of them, in the order in which they run, with the files that define them."""
    for page in pages(tree):
        for pipeline in dict.fromkeys(match[1] for line in tree.lines(page) if (match := re.match(r"\| pass of `([^`]+)` \|", line))):
            made = [re.sub("(?<!^)([A-Z])", r"-\1", name).lower() for name in re.findall(r"\bcreate(\w+)\(", "\n".join(tree.lines(pipeline)))]
            wanted = [f"autopar-{name}" for name in made if not name.endswith("-pass")]  # MLIR's own end so
            told = []
            for number, _, cells in rows(tree, page, f"pass of `{pipeline}`"):
                name, file = (cell.strip("`") for cell in cells[:2])
                if name.startswith("autopar-"):
                    told.append(name)
                    stem = "".join(part.capitalize() for part in name.split("-")[1:])
                    if os.path.basename(file) != f"{stem}.cpp" or file not in tree.files:
                        yield page, number, f"{name} is not in {file}: name the file {stem}.cpp that defines it"
            if told != wanted:
                yield page, 1, f"the table of {pipeline} has other passes, or another order: {', '.join(wanted)}"


def check_root(tree):
    """The root of the tree has folders and pages that everybody looks for there, and nothing else."""
    for path in tree.files:
        top = path.split("/")[0]
        if top not in (FOLDERS if "/" in path else ROOT_FILES) and not top.startswith("."):
            yield path, 1, f"{top} is in the root of the tree: move it to one of {', '.join(FOLDERS)}"


RULES = [check_library_order, check_rooms, check_runtime, check_compute_ops, check_attribute_names, check_length, check_first_line, check_guards,
         check_paths, check_links, check_guides, check_pass_tables, check_root, check_unit_tests]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    tree, failed = Tree(parser.parse_args().root), 0
    for rule in RULES:
        failures = [f"{path}:{line}: {text}" for path, line, text in rule(tree)]
        print(f"{'FAIL' if failures else 'ok'}: {rule.__doc__}", *failures, sep="\n")
        failed += bool(failures)
    print(f"{len(RULES) - failed} passed, {failed} failed, 0 skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
