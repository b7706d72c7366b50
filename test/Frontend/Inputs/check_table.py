"""Compares the printed table of operators with the schemas of the package onnx: python check_table.py FILE"""

import collections
import sys

from onnx import defs

OLDEST = 6
TYPES = {1: "float", 2: "int", 3: "string", 4: "tensor", 5: "graph", 6: "floats", 7: "ints", 8: "strings", 11: "sparse_tensor"}


def attributes(schema):
    return sorted(f"{a.name}:{TYPES.get(int(a.type.value), a.type)}{'!' if a.required else ''}" for a in schema.attributes.values())


def main():
    schemas = collections.defaultdict(dict)
    for schema in defs.get_all_schemas_with_history():
        if schema.domain in ("", "ai.onnx.preview"):
            name = f"{schema.domain}.{schema.name}" if schema.domain else schema.name
            schemas[name][schema.since_version] = schema
    table = collections.defaultdict(dict)
    with open(sys.argv[1]) as file:
        for line in file:
            name, since, low, high, known = line.rstrip("\n").split(";")
            for version in since.split():
                table[name][int(version)] = (int(low), high, sorted(known.split()))
    differences = []
    for name, rows in sorted(table.items()):
        # The version that holds at the oldest opset, and every later one.
        first = max((v for v in schemas[name] if v <= OLDEST), default=0)
        expected = {v: s for v, s in schemas[name].items() if v >= first}
        for version in sorted(set(expected) ^ set(rows)):
            differences.append(f"{name} {version}: {'not in the table' if version in expected else 'not in the standard'}")
        for version in sorted(set(expected) & set(rows)):
            low, high, known = rows[version]
            schema = expected[version]
            limit = "-" if schema.max_input > 1000 else str(schema.max_input)
            if (low, high) != (schema.min_input, limit):
                differences.append(f"{name} {version}: inputs {low} to {high}, standard {schema.min_input} to {limit}")
            if known != attributes(schema):
                differences.append(f"{name} {version}: attributes {known}, standard {attributes(schema)}")
    print("\n".join(differences))
    print(f"{len(table)} operators, {len(differences)} differences")


if __name__ == "__main__":
    main()
