"""Edits a plan file: edit_plan.py IN OUT path.to.key=JSON ... -key.to.remove ..."""

import json
import sys


def parent(plan, path):
    *folders, last = path.split(".")
    for folder in folders:
        plan = plan[int(folder) if isinstance(plan, list) else folder]
    return plan, int(last) if isinstance(plan, list) else last


def edit(plan, change):
    if change.startswith("-"):
        holder, key = parent(plan, change[1:])
        del holder[key]
        return
    path, text = change.split("=", 1)
    holder, key = parent(plan, path)
    holder[key] = json.loads(text)


def main():
    source, target, *changes = sys.argv[1:]
    with open(source) as file:
        plan = json.load(file)
    for change in changes:
        edit(plan, change)
    with open(target, "w") as file:
        json.dump(plan, file, indent=2)


main()
