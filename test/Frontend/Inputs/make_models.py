"""Makes ONNX models from the text in a test file.

    python make_models.py TEST_FILE FOLDER

After a line `//--- NAME [opset=N]` stands a graph in ONNX's textual syntax, up to the next such line; lines that begin with `//`
are left out. Writes FOLDER/NAME.onnx. A graph without a header gets opset 20.
"""

import os
import sys

import onnx
import onnx.parser


def parts(path):
    name, opset, lines = None, 20, []
    with open(path) as file:
        for line in file:
            if line.startswith("//---"):
                if name:
                    yield name, opset, "".join(lines)
                name, *options = line[5:].split()
                opset = int(dict(o.split("=") for o in options).get("opset", 20))
                lines = []
            elif not line.startswith("//"):
                lines.append(line)
    if name:
        yield name, opset, "".join(lines)


def main():
    source, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    for name, opset, text in parts(source):
        if not text.lstrip().startswith("<"):
            text = f'<ir_version: 8, opset_import: ["" : {opset}]>\n{text}'
        try:
            model = onnx.parser.parse_model(text)
        except onnx.parser.ParseError as error:
            sys.exit(f"{source}: {name}: {error}")
        onnx.save(model, os.path.join(folder, name + ".onnx"))


if __name__ == "__main__":
    main()
