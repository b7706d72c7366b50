"""Runs real models under constraints files: what no strategy name asks for is reached from ONNX names.

    python test/Execution/run_constraints.py [--only TEXT] [--jobs N]

Each case compiles a model of ../shared/models/small with a constraints file, checks in the plan that what was asked for is there,
runs it on its ranks and compares with the reference as run_models.py does. The last line counts: "N passed, N failed, N skipped".
"""

import argparse
import fnmatch
import json
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from run_models import SUMMING, TOLERANCE, compare, find_tool, ranks_sum, reference_of, run  # noqa: E402
from shared_models import SMALL, end_without  # noqa: E402

import numpy as np  # noqa: E402


def value(name, *dims, **more):
    return {"value": name, "sharding": list(dims), **more}


def node(name, **more):
    return {"node": name, **more}


@dataclass
class Case:
    name: str
    model: str
    ranks: int
    constraints: list
    options: list = field(default_factory=list)
    suffix: str = ""

    def __str__(self):
        return f"{self.name}: {self.model} x{self.ranks}"


SEQUENCE = [{"mesh": "seq=4"}, value("layer_norm*", [], ["seq"], []), node("node_*oftmax*", strategy={"seq": "dimension 2"})]
GPT2_NORMS = [value("layer_norm*", [], ["seq"], []), value("add_*", "*", "*", "...")]
CASES = [
    # The sequence split in norms and in attention's rows of queries.
    Case("sequence", "bert-tiny", 4, SEQUENCE),
    Case("sequence", "gpt2-tiny", 4, [{"mesh": "seq=4"}, *GPT2_NORMS]),
    Case("sequence", "gpt2-uneven", 4, [{"mesh": "seq=4"}, value("layer_norm*", [], ["seq"], [])]),
    Case("sequence", "gpt2-tiny", 4, [{"mesh": "data=2,seq=2"}, value("layer_norm*", ["data"], ["seq"], [])]),
    Case("sequence of all", "gpt2-tiny", 3, [value("layer_norm*", "*", ["all"], "...")]),
    Case("sequence", "llama-tiny", 2, [{"mesh": "seq=2"}, value("rsqrt*", [], ["seq"], []), node("node_Softmax*", strategy={"seq": "dimension 2"})]),
    Case("keys", "bert-tiny", 2, [{"mesh": "seq=2"}, node("node_softmax*", strategy={"seq": "dimension 3"})]),
    Case("heads", "bert-tiny", 2, [{"mesh": "heads=2"}, node("node_softmax*", strategy={"heads": "dimension 1"})]),
    # Rows of the table of words, and of the matrix multiplication that makes logits.
    Case("vocabulary", "gpt2-tiny", 4, [{"mesh": "vocab=4"}, value("m.lm_head.weight", ["vocab"], [])]),
    Case("vocabulary", "gpt2-uneven", 3, [value("m.lm_head.weight", ["all"], []), value("logits", [], [], ["all"])]),
    Case("vocabulary", "bert-tiny", 4, [{"mesh": "data=2,vocab=2"}, value("m.cls.predictions.decoder.weight", ["vocab"], []),
                                        value("logits", ["data"], [], ["vocab"])]),
    Case("vocabulary", "llama-tiny", 2, [{"mesh": "vocab=2"}, value("m.model.embed_tokens.weight", ["vocab"], []),
                                         value("logits", [], [], ["vocab"])]),
    # The experts of each rank.
    Case("experts", "moe-tiny", 4, [{"mesh": "expert=4"}, value("blocks.*.w?", ["expert"], "...")]),
    Case("experts", "moe-tiny", 3, [{"mesh": "expert=3"}, value("blocks.*.w?", ["expert"], "...")]),
    Case("experts", "moe-tiny", 4, [{"mesh": "data=2,expert=2"}, value("blocks.*.w?", ["expert"], "...")]),
    Case("experts", "moe-capacity", 4, [{"mesh": "expert=4"}, value("blocks.*.w?", ["expert"], "...")]),
    Case("experts", "moe-capacity", 2, [{"mesh": "expert=2"}, value("blocks.*.w?", ["expert"], "...")]),
    # Values that are sums to come, dimensions that must be whole, ops by their rule.
    Case("partial", "mlp", 2, [{"mesh": "t=2"}, value("node_linear*", [], [], partial={"t": "sum"})]),
    Case("partial", "mlp-uneven", 3, [value("linear", [], [], partial={"all": "sum"})]),
    Case("columns", "mlp", 4, [{"mesh": "a=2,b=2"}, node("node_linear*", strategy={"a": "column", "b": "row"})]),
    Case("half an axis", "mlp", 4, [{"mesh": "t=4"}, value("relu*", ["t.0"], ["t.1"])]),
    Case("forbidden batch", "mlp", 2, [value("*", ["all"], "...", forbid=True)]),
    Case("never partial", "gpt2-tiny", 2, [value("*", "..."), {"mesh": "t=2"}], ["--strategy", "row"]),
    Case("stages", "gpt2-tiny", 2, [{"mesh": "layer=2"}, node("node_layer_norm_2*", stage=0), node("node_layer_norm_3*", stage=1)]),
    Case("stages", "bert-tiny", 4, [{"mesh": "layer=2,data=2"}, node("node_softmax_1", stage=0), node("node_linear_8*", stage=1)]),
    Case("mesh", "mlp", 4, [{"mesh": "x=4", "forbid": True}]),
]


def met(item, plan):
    """Whether the plan shows what one constraint asks for: dimensions said exactly, stages."""
    if "mesh" in item:
        sizes = ",".join(f"{a['axis']}={a['size']}" for a in plan["mesh"] if a["axis"] != "time")
        layers = f"layer={plan['stages']}," if plan["stages"] > 1 else ""
        return ((layers + sizes).rstrip(",") in (item["mesh"], item["mesh"] + ",x=1")) != item.get("forbid", False)
    names = [n for n in plan["tensors" if "value" in item else "ops"] if fnmatch.fnmatchcase(n, item.get("value", item.get("node")))]
    if "stage" in item:
        return names and all(plan["ops"][n].get("stage", 0) == item["stage"] for n in names)
    if "sharding" not in item or "..." in item["sharding"] or item.get("forbid"):
        return bool(names)
    axes = [a["axis"] for a in plan["mesh"] if a["axis"] != "time"]
    dims = ["*" if d == "*" else axes if d == ["all"] else d for d in item["sharding"]]
    return all(w == "*" or w == [a for a in got if a != "time"]
               for n in names for w, got in zip(dims, plan["tensors"][n]["dims"]))


def attempt(case, work):
    folder, stem = os.path.join(SMALL, case.model), os.path.join(work, str(CASES.index(case)))
    with open(stem + ".constraints.json", "w") as file:
        json.dump({"constraints": case.constraints}, file)
    model = os.path.join(folder, "model.onnx")
    code, log = run([find_tool(), "compile", model, "-o", stem, "--ranks", str(case.ranks), "--weights", model, "--save-plan", stem + ".json",
                     "--constraints", stem + ".constraints.json", *case.options])
    if code:
        return f"compile ended with {code}: {log[-600:]}"
    with open(stem + ".json") as file:
        plan = json.load(file)
    for item in case.constraints:
        if not met(item, plan):
            return f"the plan does not meet {item}"
    code, log = run([find_tool(), "plan", model, "--plan", stem + ".json", "--constraints", stem + ".constraints.json"])
    if code:
        return f"the plan is refused under its own constraints: {log[-300:]}"
    code, log = run([stem, "--inputs", os.path.join(folder, f"inputs{case.suffix}.npz"), "--outputs", stem + ".npz"])
    if code:
        return f"run ended with {code}: {log[-400:]}"
    with np.load(stem + ".npz") as got:
        worst = max(compare(dict(got), reference_of(folder, case.suffix), TOLERANCE * (SUMMING if ranks_sum(plan) else 1)).values())
    return "" if worst <= 1 else f"outputs differ: {worst:.3g} of the tolerance"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--only", default="", help="cases whose name holds this text")
    arguments.add_argument("--jobs", type=int, default=2)
    options = arguments.parse_args()
    cases = [case for case in CASES if options.only in str(case)]
    end_without(SMALL, len(cases))
    failed = 0
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(options.jobs) as pool:
        for case, error in zip(cases, pool.map(lambda case: attempt(case, work), cases)):
            failed += bool(error)
            print(f"{'FAIL' if error else 'ok'}: {case}{': ' + error if error else ''}", flush=True)
    print(f"{len(cases) - failed} passed, {failed} failed, 0 skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
