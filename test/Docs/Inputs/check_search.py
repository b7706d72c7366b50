"""docs/search.py comes to what autopar comes to: the step, and every alternative of every op, here and with all else searched anew.

    check_search.py search.py FOLDER    # the folder in which the commands of docs/Search.md were run
"""

import importlib.util
import re
import subprocess
import sys

ALTERNATIVE = re.compile(r"^ +\+(\S+ \S+)  (?:x: )?(replicated|split \d|pass \d)(?: \([a-z ]+\))?(?:; step (\S+ \S+) )?")


def load(path):
    spec = importlib.util.spec_from_file_location("search", path)
    module = importlib.util.module_from_spec(spec)
    arguments, sys.argv = sys.argv, [path]
    spec.loader.exec_module(module)
    sys.argv = arguments
    return module


def explained(folder, op):
    """The seconds that each alternative costs more here, and the step with all else searched anew, where that is told."""
    command = ["autopar", "explain", "plan.json", "--model", "mlp/model.onnx", "--op", op]
    printed = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    return {match[2]: (match[1], match[3]) for line in printed.splitlines() if (match := ALTERNATIVE.match(line))}


def main():
    search, folder = load(sys.argv[1]), sys.argv[2]
    problem = search.Problem()
    _, choice, _ = problem.solve()
    alternatives = steps = failed = 0
    for op in search.OPS:
        told, listed = explained(folder, op.name), problem.alternatives(choice, op.name)
        if set(told) != {text for _, text in listed}:
            print(f"FAIL: {op.name}: autopar lists {sorted(told)}")
            failed += 1
            continue
        for more, text in listed:
            here, step = told[text]
            again = search.text(problem.solve(pinned=[(op.name, text)])[0])
            alternatives, steps = alternatives + 1, steps + bool(step)
            if here != search.text(more) or step not in (None, again):
                print(f"FAIL: {op.name} {text}: autopar {here}, step {step}; search.py {search.text(more)}, step {again}")
                failed += 1
    print(f"{alternatives} alternatives and {steps} steps compared, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
