"""The cost of evaluating while a model trains, printed: an evaluation beside as many steps of its own entry.

    python test/Execution/measure_evaluation.py TOOL FOLDER [--runs 5]

The convolutional net of measure_shards.py, on 1 and 2 ranks, alternating: the seconds of evaluations of 8192 rows in a training, and of the entry `evaluate` run for as many
steps.
"""

import json
import os
import statistics
import sys

from measure_shards import BATCH, ROWS, log_of, write_net, write_shards
from programs import error_of
from training_runs import arguments_of_tool

SHARDS = 4


def main():
    arguments = arguments_of_tool(__doc__)
    arguments.add_argument("--runs", type=int, default=5)
    options = arguments.parse_args()

    def path(name):
        return os.path.join(options.folder, name)
    os.makedirs(options.folder, exist_ok=True)
    write_net(options.folder)
    write_shards(path("rows"), SHARDS)
    with open(path("recipe.json")) as file:
        recipe = json.load(file)
    with open(path("recipe.json"), "w") as file:
        json.dump({**recipe, "evaluation": {"every": 4, "metrics": ["loss", "accuracy", "top5_accuracy", "f1"]}}, file)
    steps = SHARDS * ROWS // BATCH
    for ranks in (1, 2):
        program = path(f"program{ranks}")
        error = error_of(options.tool, "compile", path("model.onnx"), "-o", program, "--train", path("recipe.json"), "--ranks", str(ranks))
        assert not error, error
        evaluations, alone = [], []
        for _ in range(options.runs):
            error = error_of(program, "--data", path("rows"), "--steps", "12", "--evaluation-data", path("rows"), "--log", path("log.jsonl")) or error_of(
                program, "--entry", "evaluate", "--inputs", path("rows"), "--steps", str(steps), "--json", path("report.json"))
            assert not error, error
            evaluations += [line["evaluation_seconds"] for line in log_of(path("log.jsonl")) if "evaluation" in line]
            with open(path("report.json")) as file:
                report = json.load(file)
            # All seconds of rank 0's steps, slow ones too: an evaluation has such steps as well.
            alone.append(steps * sum(report[kind][0] for kind in ("compute_seconds", "exposed_communication_seconds", "idle_seconds")))
        took, wanted = statistics.median(evaluations), statistics.median(alone)
        spread = max((max(values) - min(values)) / statistics.median(values) for values in (evaluations, alone))
        print(f"{ranks} ranks: {steps} steps of an evaluation {took * 1e3:.1f} ms, of the entry alone {wanted * 1e3:.1f} ms: {took / wanted:.3f} (spread {spread:.3f})", flush=True)


if __name__ == "__main__":
    sys.exit(main())
