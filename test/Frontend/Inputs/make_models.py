"""Makes ONNX models from the text in a test file.

    python make_models.py TEST_FILE FOLDER

After a line `//--- NAME [opset=N] [dim:A=B ...]` stands a graph in ONNX's textual syntax, up to the next such line; lines that
begin with `//` are left out. Writes FOLDER/NAME.onnx. A graph without a header gets opset 20. The symbolic dimension A of inputs
gets the name, or the size, B, which the syntax does not know.
"""

import os
import sys

import onnx
import onnx.parser


def parts(path):
    name, opset, dims, lines = None, 20, {}, []
    with open(path) as file:
        for line in file:
            if line.startswith("//---"):
                if name:
                    yield name, opset, dims, "".join(lines)
                name, *words = line[5:].split()
                options = dict(word.split("=") for word in words)
                opset = int(options.get("opset", 20))
                dims = {key[4:]: value for key, value in options.items() if key.startswith("dim:")}
                lines = []
            elif not line.startswith("//"):
                lines.append(line)
    if name:
        yield name, opset, dims, "".join(lines)


def rename(model, dims):
    for value in model.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            new = dims.get(dim.dim_param)
            if new and new.lstrip("-").isdigit():
                dim.dim_value = int(new)
            elif new:
                dim.dim_param = new


def main():
    source, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    for name, opset, dims, text in parts(source):
        if not text.lstrip().startswith("<"):
            text = f'<ir_version: 8, opset_import: ["" : {opset}]>\n{text}'
        try:
            model = onnx.parser.parse_model(text)
        except onnx.parser.ParseError as error:
            sys.exit(f"{source}: {name}: {error}")
        rename(model, dims)
        onnx.save(model, os.path.join(folder, name + ".onnx"))


if __name__ == "__main__":
    main()
