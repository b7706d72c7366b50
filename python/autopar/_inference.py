"""onnxruntime's interface to a session, for scripts that use it."""

import tempfile
from typing import List, NamedTuple, Optional, Sequence

from ._program import AutoparError, compile, model_file
from ._session import Session

_ONNX = {
    "bool": "bool", "int8": "int8", "uint8": "uint8", "int16": "int16", "uint16": "uint16", "int32": "int32", "uint32": "uint32",
    "int64": "int64", "uint64": "uint64", "float16": "float16", "bfloat16": "bfloat16", "float32": "float", "float64": "double",
}


class NodeArg(NamedTuple):
    """An input or an output: its type as onnxruntime writes it, "tensor(float)"."""

    name: str
    shape: List[int]
    type: str


class InferenceSession:
    """A model, compiled for `ranks` ranks of this host and loaded: `onnxruntime.InferenceSession` for what both have.

    `model`: a path, the bytes of a model, or an onnx.ModelProto. `sess_options` may be onnxruntime's: threads within an operator are those of
    each rank. `providers` may only name the CPU's. `options`: further flags of `autopar compile`, such as ["--bind", "batch=1"]: sizes are
    fixed as the model is compiled. The program lies in a temporary folder that goes away with the session.
    """

    def __init__(self, model, sess_options=None, providers: Optional[Sequence] = None, *, ranks: int = 1, options: Sequence = (), threads: int = 0):
        for provider in providers or []:
            if provider != "CPUExecutionProvider":
                raise AutoparError(f"provider {provider!r}: a session runs on CPUs; compile for a GPU by autopar.compile(..., options=['--target', 'cuda'])")
        self._folder = tempfile.TemporaryDirectory(prefix="autopar-")
        program = compile(model_file(model, self._folder.name), f"{self._folder.name}/program", ranks=ranks, options=list(options))
        threads = threads or getattr(sess_options, "intra_op_num_threads", 0)
        #: The session underneath.
        self.session = Session(program.path, threads=threads)

    def get_inputs(self) -> List[NodeArg]:
        return [_argument(info) for info in self.session.inputs]

    def get_outputs(self) -> List[NodeArg]:
        return [_argument(info) for info in self.session.outputs]

    def get_providers(self) -> List[str]:
        return ["CPUExecutionProvider"]

    def run(self, output_names: Optional[Sequence[str]], input_feed, run_options=None) -> list:
        """The outputs of these names, or all, in that order."""
        if run_options is not None:
            raise AutoparError("run_options: none are known; leave them out")
        names = [info.name for info in self.session.outputs] if output_names is None else list(output_names)
        results = self.session.run(input_feed, names)
        return [results[name] for name in names]


def _argument(info):
    return NodeArg(info.name, list(info.shape), f"tensor({_ONNX[info.dtype.name]})")
