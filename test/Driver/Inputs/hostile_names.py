"""Gives a model names that would end a script, start a comment or be markup: hostile_names.py MODEL OUT"""

import sys

import onnx

HOSTILE = ["</script><script>document.title='broken'</script>", "<!--<script>", "&lt;b&gt;{{facts}}", "\"quoted\" 'twice' \\ \u2028 ${x}"]

model = onnx.load(sys.argv[1])
names = {}
for index, node in enumerate(model.graph.node):
    node.name = f"{HOSTILE[index % len(HOSTILE)]} {index}"
    for output in node.output:
        if output not in [value.name for value in model.graph.output]:
            names[output] = f"{HOSTILE[index % len(HOSTILE)]} of {output}"
for node in model.graph.node:
    node.input[:] = [names.get(name, name) for name in node.input]
    node.output[:] = [names.get(name, name) for name in node.output]
del model.graph.value_info[:]
onnx.save(model, sys.argv[2])
