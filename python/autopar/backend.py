"""The standard's interface to what runs models: `onnx.backend.base.Backend`.

    import onnx, autopar.backend
    prepared = autopar.backend.prepare(onnx.load("model.onnx"))
    outputs = prepared.run([x])

`onnx.backend.test.BackendTest(autopar.backend, __name__)` runs the standard's own tests.
"""

from typing import Mapping

import numpy as np
import onnx
from onnx import helper
from onnx.backend import base

from ._program import AutoparError
from ._specialize import Specialized


class PreparedModel(base.BackendRep):
    """A model that is compiled and loaded. Sizes that it leaves open, and values that its nodes need while compiling, are those of the inputs."""

    def __init__(self, model, **options):
        self._programs = Specialized(model, **options)
        weights = {tensor.name for tensor in model.graph.initializer}
        self._inputs = [value.name for value in model.graph.input if value.name not in weights]
        self._outputs = [value.name for value in model.graph.output]
        self._result = base.namedtupledict("Outputs", self._outputs)

    def run(self, inputs):
        """The outputs, by place or by name. `inputs`: arrays in the graph's order, weights left out, or a dict by name."""
        if not isinstance(inputs, Mapping):
            inputs = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
            if len(inputs) != len(self._inputs):
                raise AutoparError(f"{len(inputs)} inputs are given but the model has {len(self._inputs)}: {', '.join(self._inputs) or 'none'}")
            inputs = dict(zip(self._inputs, inputs))
        feeds = {name: _array(name, value) for name, value in inputs.items()}
        results = self._programs.session(feeds).run(feeds)
        return self._result(*(results[name] for name in self._outputs))

    def close(self):
        """Frees the programs and their weights."""
        self._programs.close()


def _array(name, value):
    if isinstance(value, (list, tuple)) or value is None:
        raise AutoparError(f"input {name!r} is {'a sequence' if value is not None else 'None'}: programs take tensors")
    return value if hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray) else np.ascontiguousarray(value).reshape(np.shape(value))


class Backend(base.Backend):
    """autopar as a backend of the package onnx, on CPUs."""

    @classmethod
    def supports_device(cls, device):
        """Whether `device` is the CPU: programs for a GPU are made by `autopar.compile(..., options=["--target", "cuda"])`."""
        return device.split(":")[0] == "CPU"

    @classmethod
    def prepare(cls, model, device="CPU", *, ranks=1, options=(), threads=0, rtol=None, atol=None):
        """Compiles and loads a model for `ranks` ranks. `options`: further flags of `autopar compile`. `rtol`, `atol`: what the standard's runner
        compares by, and of no effect here. What is not supported raises AutoparError."""
        if not cls.supports_device(device):
            raise AutoparError(f"device {device!r}: a prepared model runs on CPUs")
        return PreparedModel(model, ranks=ranks, options=options, threads=threads)

    @classmethod
    def is_compatible(cls, model, device="CPU", **options):
        """Whether `prepare` takes the model."""
        try:
            cls.prepare(model, device, **options).close()
        except AutoparError:
            return False
        return True

    @classmethod
    def run_node(cls, node, inputs, device="CPU", outputs_info=None, **options):
        """Runs one node; `opset_version` among the options says which (default: the newest that this package onnx has)."""
        opset = options.pop("opset_version", onnx.defs.onnx_opset_version())
        names = [name for name in node.input if name]
        if len(names) != len(inputs):
            raise AutoparError(f"{len(inputs)} inputs are given but the node {node.op_type} has {len(names)}")
        taken = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.asarray(array).dtype), np.shape(array))
                 for name, array in dict(zip(names, inputs)).items()]
        given = [helper.make_empty_tensor_value_info(name) for name in node.output if name]
        graph = helper.make_graph([node], node.op_type, taken, given)
        model = onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid(node.domain, opset)]))
        return cls.run_model(model, list(dict(zip(names, inputs)).values()), device, **options)


is_compatible = Backend.is_compatible
prepare = Backend.prepare
run_model = Backend.run_model
run_node = Backend.run_node
supports_device = Backend.supports_device
