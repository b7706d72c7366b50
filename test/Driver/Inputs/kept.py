"""How much of one plan another has: `kept.py OLD.json NEW.json` prints the shares of tensors and ops, among those of both, that are alike.

With `--format-1 OLD NEW` writes OLD to NEW as format 1 had it.
"""

import json
import sys


def load(path):
    with open(path) as file:
        return json.load(file)


def share(old, new, key):
    names = old.keys() & new.keys()
    return f"{sum(old[name].get(key) == new[name].get(key) for name in names)} of {len(names)}"


def to_format_1(source, target):
    plan = load(source)
    plan["format"] = 1
    for key in ("structure_hash", "request"):
        plan.pop(key, None)
    for op in plan["ops"].values():
        del op["rule"]
    with open(target, "w") as file:
        json.dump(plan, file)


def main():
    if sys.argv[1] == "--format-1":
        return to_format_1(*sys.argv[2:])
    old, new = map(load, sys.argv[1:])
    print("mesh", ",".join(f"{axis['axis']}={axis['size']}" for axis in new["mesh"]))
    print("strategies", share(old["ops"], new["ops"], "strategy"))
    print("stages", share(old["ops"], new["ops"], "stage"))
    print("tensors", share(old["tensors"], new["tensors"], "dims"))


if __name__ == "__main__":
    main()
