"""A decoder of two layers with a cache of keys and values, as exporters write it: positions, the causal mask and the sizes of the cache
follow from the shape of `past`, a symbolic size that grows by the tokens of a step."""

import numpy as np
import onnx
from onnx import TensorProto, helper

F32, I64 = TensorProto.FLOAT, TensorProto.INT64
VOCABULARY, HEADS, WIDTH, POSITIONS = 29, 4, 6, 40


class Nodes:
    """Nodes by the outputs that they get as names."""

    def __init__(self):
        self.nodes, self.constants, self.count = [], [], 0

    def constant(self, value):
        self.constants.append((f"c{len(self.constants)}", np.asarray(value)))
        return self.constants[-1][0]

    def __call__(self, op, *inputs, to=None, **attributes):
        self.count += 1
        to = to or f"v{self.count}"
        self.nodes.append(helper.make_node(op, list(inputs), [to], name=f"{op}_{self.count}", **attributes))
        return to

    def cast(self, value, kind):
        self.count += 1
        self.nodes.append(helper.make_node("Cast", [value], [f"v{self.count}"], name=f"Cast_{self.count}", to=kind))
        return f"v{self.count}"


def projected(make, random, value, columns):
    weight = random.standard_normal((HEADS * WIDTH, columns)).astype(np.float32) / 5
    return make("MatMul", value, make.constant(weight))


def heads_of(make, value, batch, tokens):
    split = make("Reshape", value, make.constant(np.array([batch, tokens, HEADS, WIDTH])))
    return make("Transpose", split, perm=[0, 2, 1, 3])


def decoder(random, batch=3, tokens=1, cached=0):
    """The model; its states, by input; what they are before the first step: `cached` rows."""
    make = Nodes()
    inputs = [("ids", I64, [batch, tokens])]
    outputs, states = [("logits", F32, [batch, tokens, VOCABULARY])], {}
    embedding = make.constant(random.standard_normal((VOCABULARY, HEADS * WIDTH)).astype(np.float32))
    places = make.constant(random.standard_normal((POSITIONS, HEADS * WIDTH)).astype(np.float32))
    causal = make.constant(np.tril(np.ones((1, 1, POSITIONS, POSITIONS), bool)))
    length = make("Gather", make("Shape", "past.0.key"), make.constant(np.array(2)), axis=0)
    end = make("Add", length, make.constant(np.array(tokens)))
    position = make("Range", length, end, make.constant(np.array(1)))
    hidden = make("Add", make("Gather", embedding, "ids", axis=0), make("Gather", places, position, axis=0))
    axis = make.constant(np.array([0]))
    ends = make("Unsqueeze", end, axis)
    rows = make("Slice", causal, make("Unsqueeze", length, axis), ends, make.constant(np.array([2])))
    mask = make("Slice", rows, make.constant(np.array([0])), ends, make.constant(np.array([3])))
    for layer in range(2):
        query = heads_of(make, projected(make, random, hidden, HEADS * WIDTH), batch, tokens)
        kept = {}
        for kind in ("key", "value"):
            past, present = f"past.{layer}.{kind}", f"present.{layer}.{kind}"
            new = heads_of(make, projected(make, random, hidden, HEADS * WIDTH), batch, tokens)
            kept[kind] = make("Concat", past, new, to=present, axis=2)
            inputs.append((past, F32, [batch, HEADS, "past", WIDTH]))
            outputs.append((present, F32, [batch, HEADS, f"past + {tokens}", WIDTH]))
            states[past] = present
        scores = make("MatMul", query, make("Transpose", kept["key"], perm=[0, 1, 3, 2]))
        scaled = make("Mul", scores, make.constant(np.float32(WIDTH ** -0.5)))
        shares = make("Softmax", make("Where", mask, scaled, make.constant(np.float32(-1e30))), axis=-1)
        joined = make("Transpose", make("MatMul", shares, kept["value"]), perm=[0, 2, 1, 3])
        flat = make("Reshape", joined, make.constant(np.array([batch, tokens, HEADS * WIDTH])))
        hidden = make("Add", hidden, projected(make, random, make("Tanh", flat), HEADS * WIDTH))
    # The mean over the cache, whose number of rows divides.
    total = make("ReduceSum", kept["value"], make.constant(np.array([2, 3])), keepdims=0)
    counted = make("Div", total, make.cast(end, F32))
    projected_logits = projected(make, random, hidden, VOCABULARY)
    extra = make("Unsqueeze", make("ReduceMean", counted, axes=[1], keepdims=1), make.constant(np.array([2])))
    make("Add", projected_logits, extra, to="logits")
    graph = helper.make_graph(
        make.nodes, "decoder", [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in inputs],
        [helper.make_tensor_value_info(name, kind, shape) for name, kind, shape in outputs],
        [onnx.numpy_helper.from_array(value, name) for name, value in make.constants])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(made)
    return made, states, {past: random.standard_normal((batch, HEADS, cached, WIDTH)).astype(np.float32) for past in states}
