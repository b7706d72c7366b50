"""The page docs/Operators.md, made of what `autopar ops --json -` prints on standard input.

    autopar ops --json - | operators_page.py > docs/Operators.md
"""

import json
import sys

HEAD = """# Operators

The ONNX operators that autopar compiles. This page is made of what the program itself lists:

    build/bin/autopar ops               # this list; --json FILE writes it for programs
    build/bin/autopar ops --json - | python test/Docs/Inputs/operators_page.py > docs/Operators.md

A version is the opset in which the standard changed the operator. A model of any opset from {first} to {last} is taken: each of its
operators has the meaning that it has in the model's opset. Functions that the model defines are compiled, too. Tensors are of the
types {types}.

An operator that is not here, or a use of one that is left out, is an error that names the node; all such nodes of a model are listed
at once. Most operators can be trained; [Training](Training.md#what-has-no-derivative-yet) names those that cannot.

## Compiled
| operator | versions | left out |
|---|---|---|
"""


def main():
    listed = json.load(sys.stdin)
    common = max((item["left_out"] for item in listed["operators"]), key=[item["left_out"] for item in listed["operators"] if item["left_out"]].count)
    lines = []
    for item in listed["operators"]:
        left_out = "see below" if item["left_out"] == common else item["left_out"]
        lines.append(f"| {item['name']} | {' '.join(map(str, item['versions']))} | {left_out} |")
    opsets = listed["opsets"]
    head = HEAD.format(first=min(opsets), last=max(opsets), types=", ".join(f"`{name}`" for name in listed["types"]))
    print(head + "\n".join(lines))
    print(f"\n*See below*: {common}. A shape that `--bind` fixes is known ([Running](Running.md#sizes)).")
    print("\n## Not compiled\n| operator | why, and what to do |\n|---|---|")
    for item in listed["not_compiled"]:
        print(f"| {item['name']} | {item['why']} |")


if __name__ == "__main__":
    main()
