"""The page docs/Operators.md, made of what `autopar ops --json -` prints on standard input.

    autopar ops --json - | operators_page.py > docs/Operators.md
"""

import json
import sys

HEAD = """# Operators

The ONNX operators that autopar compiles, as the program itself lists them. A plan for one rank tells whether your model has others, and
which; it makes no code and needs no weights:

    build/bin/autopar plan model.onnx --ranks 1          # with --bind for symbolic sizes; an error names each node
    build/bin/autopar ops                                # this list; --json FILE writes it for programs

*Versions* are the opsets in which the standard changed the operator. A model has of each operator the newest version that is not above
its opset: of Abs, whose versions are `6 13`, a model of opset 18 has version 13, and a model of opset 12 has version 6. Models of all opsets
from {first} to {last} are taken. Another opset is an error:

    autopar: error: the model uses opset 99; supported are {first} to {last} (onnx.version_converter converts it)

*Domains* are the standard one (`ai.onnx`), what this list has of `ai.onnx.preview`, and functions that the model defines itself. Nodes of
others, such as `com.microsoft`, are errors. *Tensors* are of the types {types}.

An operator that is not here, or a use of one that is left out, is an error that names the node; all such nodes of a model are listed
at once:

    autopar: error: node 'Frobnicate_0' (Frobnicate, opset 20): the operator is not supported
    autopar: error: node 'QGemm_8' (QGemm, opset 20): operator domain 'com.microsoft' is not supported: export the model before onnxruntime optimises it, and quantize it with QuantFormat.QDQ

Most operators can be trained; [Training](Training.md#what-has-no-derivative-yet) names those that cannot.

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
