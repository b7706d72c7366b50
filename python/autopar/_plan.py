"""Plans: what `autopar plan` found, to look at, to keep and to compile by."""

import html
import json
import os
from typing import Dict, Iterable, List, Optional, Sequence, Union

from ._program import WorkFolder, call, find_tool, flags, model_file, naming_arguments, with_files


class Plan:
    """How a model's step is spread over a cluster (docs/PlanFile.md). It can be given to `compile(..., plan=plan)`.

    `data` is the whole plan file as a dict, `text` the table that `autopar plan` prints. In a notebook it is drawn.
    """

    def __init__(self, path: str, model: str, text: str, folder: WorkFolder, train: Optional[str] = None, evaluate: bool = False):
        self._path, self._model, self._folder, self._train, self._evaluate = path, model, folder, train, evaluate
        self.text = text
        with open(path) as file:
            self.data: dict = json.load(file)

    def __fspath__(self) -> str:
        return self._path

    @property
    def seconds(self) -> float:
        """Predicted seconds of a step."""
        return self.data["predicted_step_seconds"]

    @property
    def memory_bytes(self) -> int:
        """Bytes of the fullest device, counted in the plan's program."""
        return self.data["predicted_peak_memory_bytes"]

    @property
    def mesh(self) -> Dict[str, int]:
        """Sizes of the mesh's axes, by name."""
        return {axis["axis"]: axis["size"] for axis in self.data["mesh"]}

    @property
    def stages(self) -> int:
        """Stages of the pipeline; 1: there is none."""
        return self.data["stages"]

    @property
    def micro_batches(self) -> int:
        """Micro-batches of a step."""
        return self.data["micro_batches"]

    @property
    def collectives(self) -> List[dict]:
        """What is communicated: kind, axes, bytes of one, count and seconds in a step."""
        return self.data["collectives"]

    def explain(self, *, tensor: Optional[str] = None, op: Optional[str] = None, against=None, timeout: float = 600) -> str:
        """Why it is as it is; or what else a tensor or an op could do and what that would cost; or compared with another plan."""
        named = {"model": self._model, "tensor": tensor, "op": op, "against": against, "train": self._train, "evaluate": self._evaluate}
        return call([find_tool(), "explain", self._path, *flags(named)], timeout, self._path)

    def page(self, timeout: float = 600) -> str:
        """The page that `autopar plan --html` draws."""
        path = self._folder.file("plan.html")
        if not os.path.exists(path):
            named = {"plan": self._path, "train": self._train, "evaluate": self._evaluate, "html": path}
            call([find_tool(), "plan", self._model, *flags(named)], timeout, self._model)
        with open(path) as file:
            return file.read()

    def save(self, path) -> None:
        """Writes the plan file."""
        with open(self._path, "rb") as source, open(path, "wb") as file:
            file.write(source.read())

    def __str__(self):
        return self.text

    def __repr__(self):
        axes = ", ".join(f"{axis}={size}" for axis, size in self.mesh.items()) or "one device"
        return f"<autopar.Plan of {os.path.basename(self._model)}: {axes}, {self.stages} stages, {self.seconds:.3g} s, {self.memory_bytes / 1e9:.3g} GB>"

    def _repr_html_(self):
        return f'<iframe srcdoc="{html.escape(self.page())}" width="100%" height="640" style="border:0"></iframe>'


def plan(model, *, cluster: Optional[str] = None, ranks: Union[int, Sequence[int], None] = None, options: Iterable[str] = (), timeout: float = 600,
         **named) -> Plan:
    """Searches the best plan of a model for a cluster, without its devices.

    `model`: a path, an onnx.ModelProto or its bytes. `cluster`: a cluster file or "16x8:a100-80gb@25"; or `ranks` of this host. Further options
    of `autopar plan` by name, such as `bind={"batch": 8}`, `strategy="tensor"`, `train=recipe` (a path or a dict), `memory_limit="16GiB"`.
    """
    folder = WorkFolder()
    path, model = folder.file("plan.json"), model_file(model, folder)
    named = with_files(named, folder)
    command = [find_tool(), "plan", model, *flags({"cluster": cluster, "ranks": ranks, "json": path, **named})]
    with naming_arguments(named):
        text = call(command + [str(option) for option in options], timeout, model)
    return Plan(path, model, text, folder, named.get("train"), bool(named.get("evaluate")))
