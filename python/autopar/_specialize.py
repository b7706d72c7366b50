"""One model, compiled for each choice of open sizes and of values that its nodes need while compiling."""

import os
import re
import threading
import warnings
from collections import OrderedDict
from typing import Iterable, Mapping, Optional

import numpy as np

from ._onnxruntime import ModelMetadata
from ._program import AutoparError, WorkFolder, compile, model_file
from ._session import Session

_VALUE_WANTED = re.compile(r"it comes from input (.*?): give --bind INPUT=VALUE")
_SIZE_WANTED = re.compile(r"give it one with --bind \S+=INT")
_SYMBOL = re.compile(r"[A-Za-z_]\w*")


class Specialized:
    """A model that is compiled once its sizes are known: at once if it leaves none open, else as its inputs come.

    Sessions of the last `keep` choices stay open, each with weights of its own; a warning tells of each program after the first.
    `options`: further flags of `autopar compile`, such as --bind of sizes that are the same in all calls.
    """

    def __init__(self, model, *, ranks: int = 1, options: Iterable[str] = (), threads: int = 0, keep: int = 4):
        self._folder = WorkFolder()
        self._path = model_file(model, self._folder)
        self._ranks, self._options, self._threads, self._keep = ranks, list(options), threads, keep
        self._sessions: "OrderedDict[tuple, Session]" = OrderedDict()
        self._valued = []  # names of inputs whose values nodes need while compiling
        self._made = 0
        self._lock = threading.Lock()
        self._ports, self._metadata = (_ports_of(model.graph), _metadata_of(model)) if hasattr(model, "graph") else (None, None)
        #: Whether a program was made without looking at any input.
        self.is_closed = False
        self._first()
        if self.is_closed and (self._ports or isinstance(model, (str, os.PathLike))):
            self._folder.remove()  # nothing in it is read again

    def _first(self):
        try:
            self._sessions[()] = self._open([])
            self.is_closed = True
        except AutoparError as error:
            if not self._wants(error):
                raise

    def _wants(self, error):
        """Whether a compilation may succeed that knows the inputs; notes those whose values are wanted."""
        found = _VALUE_WANTED.search(str(error))
        names = [name for name in found.group(1).split(" and ") if name not in self._valued] if found else []
        self._valued += names
        return bool(names) or bool(_SIZE_WANTED.search(str(error)))

    def _read(self, what):
        """Ports and metadata, of a model that was not given as a ModelProto."""
        if self._ports is None:
            try:
                import onnx
            except ImportError:
                raise AutoparError(f"{what}, which the package onnx reads: pip install onnx") from None
            found = onnx.load(self._path, load_external_data=False)
            self._ports, self._metadata = _ports_of(found.graph), _metadata_of(found)

    def _read_ports(self):
        self._read("the model has open sizes")
        return self._ports

    @property
    def metadata(self) -> ModelMetadata:
        """What the model's file says about itself."""
        self._read("the model says who made it")
        return self._metadata

    @property
    def inputs(self):
        """The graph's inputs that are not weights, as onnx describes them."""
        return self._read_ports()[0]

    @property
    def outputs(self):
        """The graph's outputs, as onnx describes them."""
        return self._read_ports()[1]

    def session(self, feeds: Mapping[str, np.ndarray]) -> Session:
        """The session for these inputs."""
        if self.is_closed:
            return self._sessions[()]
        with self._lock:
            return self._chosen(feeds)

    def _chosen(self, feeds):
        sizes = self._sizes(feeds)
        while True:
            values = [(name, _given(feeds, name)) for name in self._valued]
            key = (tuple(sizes.items()), tuple((name, str(array.dtype), array.shape, array.tobytes()) for name, array in values))
            if key in self._sessions:
                self._sessions.move_to_end(key)
                return self._sessions[key]
            try:
                made = self._open([f"{name}={size}" for name, size in sizes.items()] + self._written(values))
            except AutoparError as error:
                valued = len(self._valued)
                self._wants(error)
                if len(self._valued) == valued:
                    raise
                continue
            self._keep_session(key, made, sizes)
            return made

    def _sizes(self, feeds):
        """Open sizes, as --bind names them, of the arrays that are given."""
        sizes = {}
        for value in self.inputs:
            dims = value.type.tensor_type.shape.dim
            shape = np.shape(_given(feeds, value.name))
            if len(dims) != len(shape):
                raise AutoparError(f"input {value.name!r} has {len(shape)} dimensions but the model's has {len(dims)}")
            for number, (dim, size) in enumerate(zip(dims, shape)):
                if dim.HasField("dim_value") and dim.dim_value >= 0:
                    continue
                name = dim.dim_param if _SYMBOL.fullmatch(dim.dim_param) else f"{value.name}.{number}"
                if sizes.setdefault(name, size) != size:
                    raise AutoparError(f"input {value.name!r} has {size} for {name!r}, another input {sizes[name]}")
        return sizes

    def _written(self, values):
        """--bind of values: they lie in a file."""
        if not values:
            return []
        path = self._folder.file("values.npz")
        np.savez(path, **{name: array.view("V2") if array.dtype.name == "bfloat16" else array for name, array in values})
        return [f"{name}=@{path}" for name, _ in values]

    def _open(self, bindings):
        program = self._folder.file(f"program{self._made}")
        flags = [word for binding in bindings for word in ("--bind", binding)]
        compile(self._path, program, ranks=self._ranks, options=self._options + flags)
        self._made += 1
        session = Session(program, threads=self._threads)
        for path in (program, program + ".weights"):  # it was read, and a process that is killed removes nothing
            if os.path.exists(path):
                os.unlink(path)
        return session

    def _keep_session(self, key, made, sizes):
        if self._sessions:
            told = ", ".join(f"{name}={size}" for name, size in sizes.items()) or "other values"
            warnings.warn(f"the model was compiled anew, for {told}: give sizes that vary little, or compile entries (--entry) ahead", stacklevel=5)
        self._sessions[key] = made
        while len(self._sessions) > self._keep:
            self._sessions.popitem(last=False)  # it closes once no call uses it any more

    def any_session(self) -> Optional[Session]:
        """The session that was used last; None before the first."""
        return next(reversed(self._sessions.values()), None)

    def close(self) -> None:
        """Frees all programs."""
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()
        self._folder.remove()


def _metadata_of(model):
    version = model.model_version if model.HasField("model_version") else 2**63 - 1  # as onnxruntime tells that there is none
    return ModelMetadata(model.producer_name, model.graph.name, model.domain, model.doc_string, model.graph.doc_string, version,
                         {entry.key: entry.value for entry in model.metadata_props})


def _ports_of(graph):
    """Copies of a graph's inputs that are not weights, and of its outputs: they do not keep its weights in memory."""
    weights = {tensor.name for tensor in graph.initializer}
    kept = type(graph)()
    kept.input.extend(value for value in graph.input if value.name not in weights)
    kept.output.extend(graph.output)
    return list(kept.input), list(kept.output)


def _given(feeds, name):
    if feeds.get(name) is None:
        raise AutoparError(f"input {name!r} is missing")
    return feeds[name]
