"""Compares what `autopar ops --json` lists with the operators of the installed onnx: check_ops.py OPS.json"""

import json
import sys

import onnx.defs

with open(sys.argv[1], encoding="utf-8") as file:
    listed = json.load(file)
compiled = {op["name"]: op for op in listed["operators"]}
refused = {op["name"]: op["why"] for op in listed["not_compiled"]}
assert not set(compiled) & set(refused), "an operator is in both lists"
assert all(refused.values()), "an operator has no reason"
assert all(op["versions"] == sorted(op["versions"]) for op in compiled.values())
standard, ended = {}, set()
for schema in onnx.defs.get_all_schemas_with_history():
    if schema.domain == "":
        standard.setdefault(schema.name, set()).add(schema.since_version)
        ended |= {schema.name} if schema.deprecated else set()
unknown = sorted(name for name in standard if name not in compiled and name not in refused and name not in ended)
print("every operator of the standard is compiled or has a reason" if not unknown else f"neither compiled nor refused: {unknown}")
newer = {name: max(op["versions"]) for name, op in compiled.items() if name in standard and max(op["versions"]) > max(standard[name])}
print("what is left out belongs to operators that are compiled" if not newer else f"versions that the standard has not: {newer}")
