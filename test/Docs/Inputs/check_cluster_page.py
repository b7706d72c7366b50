"""The tables of docs/ClusterFile.md beside the reader of cluster files: its keys, what is required, and defaults.

    check_cluster_page.py PAGE MODEL FOLDER

The page's JSON example is the file. Without a required key, and with a key that the page does not list, reading fails; a default that is
written changes nothing.
"""

import copy
import json
import re
import subprocess
import sys

# The place in the example of the objects that each section of the page describes.
PLACES = {"The file": lambda file: file, "Nodes": lambda file: file["nodes"][0], "Links": lambda file: file["links"][0],
          "Types": lambda file: file["types"][0]}


def tables(text):
    """Per section {key: default} of its table."""
    found, section = {}, ""
    for line in text.splitlines():
        if line.startswith("## "):
            section = line[3:]
        cells = [cell.strip() for cell in line.split("|")[1:-1]] if line.startswith("| `") else []
        if len(cells) == 4 and section in PLACES:
            found.setdefault(section, {})[cells[0].strip("` ")] = cells[2].strip("` ")
    return found


def plan(file, model, folder):
    """(what the planner says, its errors) with this cluster."""
    with open(f"{folder}/tried.json", "w") as output:
        json.dump(file, output)
    ran = subprocess.run(["autopar", "plan", model, "--cluster", "tried.json", "--json", "-"], cwd=folder, capture_output=True, text=True)
    return ran.stdout if ran.returncode == 0 else None, ran.stderr


def main():
    with open(sys.argv[1], encoding="utf-8") as page:
        text = page.read()
    example = json.loads(re.search(r"```json\n(.*?)```", text, re.DOTALL)[1])
    model, folder = sys.argv[2:]
    whole, failures, checked = plan(example, model, folder)[0], [], 0
    written = set(json.loads(whole)["cluster"]["types"][0]) - set(tables(text)["Types"])  # a plan has all keys of a type
    failures += [f"Types: the page leaves out {', '.join(written)}"] if written else []
    for section, keys in tables(text).items():
        changed = copy.deepcopy(example)
        PLACES[section](changed)["no such key"] = 1
        said = plan(changed, model, folder)[1]
        if "unknown key 'no such key'" not in said:
            failures.append(f"{section}: a key that is not on the page is read: {said}")
        for name in re.findall(r"known keys: (.*)", said):
            missing = set(name.split(", ")) - set(keys)
            failures += [f"{section}: the page leaves out {', '.join(missing)}"] if missing else []
        for key, default in keys.items():
            changed = copy.deepcopy(example)
            place = PLACES[section](changed)
            checked += 1
            if default == "required":
                del place[key]
                if plan(changed, model, folder)[0] is not None:
                    failures.append(f"{section}: '{key}' is not required")
            elif default and key not in place:
                place[key] = json.loads(default)
                if plan(changed, model, folder)[0] != whole:
                    failures.append(f"{section}: '{key}': {default} is not the default")
    print(*(f"FAIL: {failure}" for failure in failures), sep="\n")
    print(f"{checked} keys checked, {len(failures)} failed")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
