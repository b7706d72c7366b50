"""Which ways of splitting each shared model are tried: the matrix that run_models.py runs.

What a model can be asked is read off its ONNX graph: `row`, `column` and `tensor` wherever a MatMul, Gemm or Conv has a weight,
`channel` and `spatial` wherever a Conv is; `data` and `layer` everywhere. No model has cases of its own, but those whose batch
is symbolic have a second size.
"""

import os
from dataclasses import dataclass
from functools import lru_cache

import onnx

LINEAR = {"MatMul", "Gemm", "Conv"}
WEIGHT_STRATEGIES = ["row", "column", "tensor"]
CONV_STRATEGIES = ["channel", "spatial"]
# Meshes of two and three axes, one strategy per axis; of 4, 6 and 8 ranks.
MESHES = {False: ["data=2,tensor=2", "row=2,column=2", "layer=2,data=2", "tensor=2,data=3", "layer=3,column=2", "data=4,row=2",
                  "layer=2,data=2,tensor=2"],
          True: ["data=2,channel=2", "channel=2,spatial=2", "layer=2,spatial=2", "data=2,spatial=3", "tensor=3,data=2",
                 "spatial=4,channel=2", "layer=2,data=2,channel=2", "data=2,channel=2,spatial=2"]}
# Continuous integration runs every so many cases; coprime to the number that most models have, so that kinds differ by model.
SAMPLE_EVERY = {"cpu": 7, "emulated": 11}


@dataclass(frozen=True)
class Case:
    model: str
    ranks: int
    strategy: str
    mesh: str = ""
    free: bool = False
    micro_batches: int = 0  # 0: the search chooses
    batch: int = 0  # of a model whose batch is symbolic

    @property
    def suffix(self):
        """Of the reference files' names."""
        return f"-b{self.batch}" if self.batch else ""

    def __str__(self):
        parts = [self.model, f"x{self.ranks}", self.strategy]
        parts += ["mesh " + self.mesh] * bool(self.mesh) + ["free links"] * self.free
        parts += [f"{self.micro_batches} micro-batches"] * bool(self.micro_batches) + [f"batch {self.batch}"] * bool(self.batch)
        return " ".join(parts)


@dataclass(frozen=True)
class Facts:
    """What a model's ONNX graph tells about what it can be asked."""
    contracted: tuple  # sizes of the weights' contracted dimensions, one per MatMul, Gemm and Conv with a weight
    outputs: tuple  # of their output dimensions
    convolutions: int
    symbolic: bool
    running: bool  # a running sum along the first axis: each sample's results depend on the samples before it


def _weight_sizes(node, shape):
    """Contracted and output size of a linear op's weight."""
    if node.op_type == "Conv":
        return shape[1], shape[0]
    transposed = node.op_type == "Gemm" and any(a.name == "transB" and a.i for a in node.attribute)
    return (shape[-1], shape[-2]) if transposed else (shape[-2], shape[-1])


def _constant(graph, name):
    """The initializer's value; None where it is no initializer."""
    return next((onnx.numpy_helper.to_array(t).item() for t in graph.initializer if t.name == name), None)


@lru_cache(maxsize=None)
def facts_of(path):
    graph = onnx.load(path, load_external_data=False).graph
    shapes = {t.name: list(t.dims) for t in graph.initializer}
    inputs = [i for i in graph.input if i.name not in shapes]
    moving = {i.name for i in inputs}
    contracted, outputs = [], []
    for node in graph.node:
        fixed = [name for name in node.input[1:2] if name not in moving]
        if moving & set(node.input) and node.op_type != "Shape":
            moving.update(node.output)
        if node.op_type == "Transpose" and node.input[0] in shapes:
            shape = shapes[node.input[0]]
            order = next((list(a.ints) for a in node.attribute if a.name == "perm"), range(len(shape))[::-1])
            shapes[node.output[0]] = [shape[d] for d in order]
        if node.op_type in LINEAR and node.input[0] in moving and fixed and len(shapes.get(fixed[0], [])) > 1:
            rows, columns = _weight_sizes(node, shapes[fixed[0]])
            contracted.append(rows)
            outputs.append(columns)
    return Facts(tuple(contracted), tuple(outputs), sum(n.op_type == "Conv" for n in graph.node),
                 any(d.dim_param for i in inputs for d in i.type.tensor_type.shape.dim),
                 any(n.op_type == "CumSum" and _constant(graph, n.input[1]) == 0 for n in graph.node))


def cases_of(model, facts):
    """Every case of one model."""
    batch = 4 if facts.symbolic else 0
    for ranks in (1, 2, 3, 4, 8):
        yield Case(model, ranks, "auto", batch=batch)
        if ranks > 1:
            yield Case(model, ranks, "auto", free=True, batch=batch)
    strategies = ["data"] + WEIGHT_STRATEGIES * bool(facts.contracted) + CONV_STRATEGIES * bool(facts.convolutions)
    for strategy in strategies:
        for ranks in (2, 4):
            yield Case(model, ranks, strategy, batch=batch)
    yield Case(model, 5, "data", batch=batch)  # divides nothing; most batches are smaller
    yield Case(model, 7, strategies[-1], batch=batch)
    yield Case(model, 3, strategies[min(2, len(strategies) - 1)], batch=batch)
    for ranks, micro_batches in ((2, 1), (2, 2), (2, 0), (3, 1), (4, 1), (4, 2), (4, 0)):
        if micro_batches < 2 or not facts.running:
            yield Case(model, ranks, "layer", micro_batches=micro_batches, batch=batch)
    for mesh in MESHES[bool(facts.convolutions)]:
        yield mesh_case(model, mesh, batch)
    if facts.symbolic:
        for case in (Case(model, 1, "auto", batch=8), Case(model, 2, "data", batch=8), Case(model, 3, "auto", free=True, batch=8)):
            yield case


def gpu_cases_of(model, facts):
    """Every case of one model on GPUs."""
    batch = 4 if facts.symbolic else 0
    yield Case(model, 1, "auto", batch=batch)
    named = ["data"] + ["tensor"] * bool(facts.contracted) + ["channel"] * bool(facts.convolutions) + ["layer"]
    for ranks in (2, 4):
        yield Case(model, ranks, "auto", batch=batch)
        yield Case(model, ranks, "auto", free=True, batch=batch)
        for strategy in named:
            yield Case(model, ranks, strategy, batch=batch)
        if not facts.running:
            yield Case(model, ranks, "layer", micro_batches=2, batch=batch)


def mesh_case(model, mesh, batch):
    axes = [axis.split("=") for axis in mesh.split(",")]
    ranks = 1
    for _, size in axes:
        ranks *= int(size)
    return Case(model, ranks, ",".join(name for name, _ in axes), mesh=mesh, batch=batch)


def all_models(folder):
    return sorted(name for name in os.listdir(folder) if os.path.exists(os.path.join(folder, name, "model.onnx")))


def sample_of(cases, target="cpu"):
    return cases[::SAMPLE_EVERY[target]]
