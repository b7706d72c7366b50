"""Predicted against measured steps on the processors of this host, and the plan chosen against all that can be asked for.

    python test/Execution/run_predictions.py [--only TEXT] [--rounds 7] [--repeat 5] [--calibrations 5] [--json FILE]

12 models that the repository makes itself, each on 1, 2 and 4 ranks by `auto` and by each strategy that applies, after
`autopar calibrate`. The programs of a model take turns; a time is the median of the rounds' medians. A model counts if one core's
GEMM, timed before and after it, is within 5% of the calibration's; if not it is measured again, --again times at most, and then its
programs are shown and not counted. A line per program: predicted, measured, their ratio; per model and number of ranks how `auto`
compares with the fastest. Then how far the calibrations are apart. It is no test: only a program that ends with an error makes the
exit code 1.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

from run_simulations import execute, find_tool, models, write_cluster

NEAR, AS_GOOD, STEADY = 0.2, 0.04, 0.05
GPT2 = {"vocabulary": 2048, "positions": 256}
LLAMA = {"groups": 2, "vocabulary": 2048}
MODELS = {
    "mlp": (models.mlp, {"batch": 256, "sizes": (1024, 2048, 2048, 2048, 1024)}),
    "mlp-deep": (models.mlp, {"batch": 128, "sizes": (1024,) * 13}),
    "mlp-head": (models.mlp, {"batch": 512, "sizes": (512, 1024, 4096)}),
    "gpt2": (models.gpt2, {"batch": 8, "sequence": 64, "layers": 4, "hidden": 384, "heads": 6, **GPT2}),
    "gpt2-long": (models.gpt2, {"batch": 2, "sequence": 256, "layers": 4, "hidden": 384, "heads": 6, **GPT2}),
    "gpt2-wide": (models.gpt2, {"batch": 4, "sequence": 64, "layers": 2, "hidden": 768, "heads": 12, **GPT2}),
    "llama": (models.llama, {"batch": 8, "sequence": 64, "layers": 4, "hidden": 384, "heads": 6, "inner": 1024, **LLAMA}),
    "llama-wide": (models.llama, {"batch": 4, "sequence": 64, "layers": 2, "hidden": 768, "heads": 12, "inner": 2048, **LLAMA}),
    "convnet": (models.convnet, {"batch": 8, "channels": 64, "size": 64, "layers": 4}),
    "convnet-deep": (models.convnet, {"batch": 8, "channels": 48, "size": 64, "layers": 8}),
    "convnet-large": (models.convnet, {"batch": 2, "channels": 32, "size": 192, "layers": 4}),
    "separable": (models.separable, {"batch": 16, "channels": 64, "size": 64, "layers": 8}),
}
IMAGES = ["data", "channel", "spatial", "layer"]
STRATEGIES = {models.mlp: ["data", "row", "column", "tensor", "layer"], models.gpt2: ["data", "tensor", "layer"],
              models.llama: ["data", "tensor", "layer"], models.convnet: IMAGES, models.separable: IMAGES}


def gemm_rate():
    """FLOP/s of one core's fp32 GEMMs, as the calibration measures them."""
    done = subprocess.run([find_tool("autopar-measure"), "--target", "cpu"], check=True, stdout=subprocess.PIPE, text=True, timeout=300)
    return json.loads(done.stdout)[0]["fp32_TF"]


def calibrate(work, count):
    """The path of a device file, its GEMMs' rate, and the largest ratio of two calibrations' by number."""
    found = []
    for i in range(count):
        path = os.path.join(work, f"host{i}.json")
        execute(find_tool(), "calibrate", "--target", "cpu", "-o", path)
        with open(path) as file:
            found.append(json.load(file)["types"][0])
    apart = {key: max(one[key] for one in found) / min(one[key] for one in found)
             for key in ("fp32_TF", "bf16_TF", "fp16_TF", "mem_TBps", "launch_us", "within_GBps")}
    apart["overlap"] = 1 + max(one["overlap"] for one in found) - min(one["overlap"] for one in found)  # a share
    middle = sorted(range(count), key=lambda i: found[i]["fp32_TF"])[count // 2]
    return os.path.join(work, f"host{middle}.json"), found[middle]["fp32_TF"], apart


class Program:
    """One model on some ranks by one strategy."""

    def __init__(self, folder, device, ranks, strategy):
        self.ranks, self.strategy, self.folder, self.medians = ranks, strategy, folder, []
        self.path = os.path.join(folder, f"{strategy}-{ranks}")
        cluster, plan = self.path + ".cluster.json", self.path + ".plan.json"
        write_cluster(device, ranks, cluster)
        execute(find_tool(), "compile", os.path.join(folder, "model.onnx"), "--cluster", cluster, "--strategy", strategy,
                "--save-plan", plan, "-o", self.path)
        with open(plan) as file:
            self.predicted = json.load(file)["predicted_step_seconds"]

    def run(self, repeat):
        report = self.path + ".report.json"
        execute(self.path, "--weights", self.folder, "--inputs", os.path.join(self.folder, "inputs.npz"), "--threads", "1",
                "--warm-up", "2", "--repeat", str(repeat), "--json", report)
        with open(report) as file:
            self.medians.append(json.load(file)["seconds_per_step"]["median"])

    @property
    def measured(self):
        return statistics.median(self.medians)

    @property
    def spread(self):
        """Of the rounds' medians, beside their own: the middle half's width."""
        low, _, high = statistics.quantiles(self.medians, n=4)
        return (high - low) / self.measured


def programs_of(folder, device, strategies):
    found, errors = [], []
    for ranks in (1, 2, 4):
        for strategy in ["auto"] + (strategies if ranks > 1 else []):
            try:
                found.append(Program(folder, device, ranks, strategy))
            except RuntimeError as error:
                if "can follow the strategy" not in str(error):
                    errors.append(f"x{ranks} {strategy}: {error}")
    return found, errors


def measure(programs, rate, options):
    """How often the programs were measured again, and whether the host was steady in the end."""
    for repeats in range(options.again + 1):
        for program in programs:
            program.medians.clear()
        before = gemm_rate()
        for _ in range(options.rounds):
            for program in programs:
                program.run(options.repeat)
        if all(abs(now / rate - 1) <= STEADY for now in (before, gemm_rate())):
            return repeats, True
    return repeats, False


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--only", default="", metavar="TEXT", help="models whose name holds this text")
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--repeat", type=int, default=5, help="steps of each round")
    arguments.add_argument("--calibrations", type=int, default=5)
    arguments.add_argument("--again", type=int, default=2, help="how often a model is measured anew on an unsteady host")
    arguments.add_argument("--json", metavar="FILE", help="write all rows here")
    options = arguments.parse_args()
    rows, failed, repeats, counted, near, choices, good = [], 0, 0, 0, 0, 0, 0
    with tempfile.TemporaryDirectory() as work:
        device, rate, apart = calibrate(work, options.calibrations)
        for name, (make, sizes) in MODELS.items():
            if options.only not in name:
                continue
            folder = os.path.join(work, name)
            make(folder, **sizes)
            programs, errors = programs_of(folder, device, STRATEGIES[make])
            failed += len(errors)
            for error in errors:
                print(f"{name} {error}", flush=True)
            again, steady = measure(programs, rate, options)
            repeats += again
            counted += len(programs) * steady
            if not steady:
                print(f"{name}: the host is not as it was calibrated: not counted", flush=True)
            for program in programs:
                ratio = program.predicted / program.measured
                near += steady and abs(ratio - 1) <= NEAR
                rows.append({"model": name, "ranks": program.ranks, "strategy": program.strategy, "predicted": program.predicted,
                             "measured": program.measured, "spread": program.spread, "steady": steady})
                print(f"{name:14} x{program.ranks} {program.strategy:8}{1e3 * program.predicted:>9.2f} ms predicted"
                      f"{1e3 * program.measured:>9.2f} ms measured{ratio:>7.2f}{program.spread:>7.1%} spread", flush=True)
            for ranks in (2, 4):
                auto, *others = sorted((p for p in programs if p.ranks == ranks), key=lambda p: p.strategy != "auto")
                best = min([auto, *others], key=lambda p: p.measured)
                choices += steady
                good += steady and auto.measured <= best.measured * (1 + max(AS_GOOD, auto.spread, best.spread))
                print(f"{name:14} x{ranks} auto takes {auto.measured / best.measured:.2f} of the fastest ({best.strategy})", flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"rows": rows, "calibrations": apart}, file, indent=1)
    print(f"{options.calibrations} calibrations: " + ", ".join(f"{key} within {value - 1:.1%}" for key, value in apart.items()))
    print(f"{len(rows)} programs, {counted} of them counted: {near} predicted within {NEAR:.0%}; {good} of {choices} plans chosen as good "
          f"as the fastest; {repeats} repeats on an unsteady host; {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
