"""Plans models of the shared folder and checks what they are exported to, for every system: `export_models.py MODELS FOLDER`.

A row is a model, its options, the devices, and the settings that must be among those of each system; none where the system
has none for the plan and says so. The last line counts: "N files, N refused".
"""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SYSTEMS = ("megatron", "vllm", "deepspeed")
MODELS = [
    ("small/gpt2-tiny", "--ranks 4 --strategy tensor", 4,
     ["--tensor-model-parallel-size=4", "tensor-parallel-size=4", "tensor_parallel.autotp_size=4"]),
    ("small/bert-tiny", "--ranks 4 --strategy data", 4, ["--micro-batch-size=1", "data-parallel-size=4", "train_micro_batch_size_per_gpu=1"]),
    ("small/llama-tiny", "--cluster 1x8:h100-80gb --precision bf16 --strategy layer,data,tensor --mesh layer=2,data=2,tensor=2", 8,
     ["--bf16", "dtype=bfloat16", "bf16.enabled=true"]),
    ("small/t5-tiny", "--ranks 4 --strategy layer,data --mesh layer=2,data=2 --micro-batches 2", 4,
     ["--pipeline-model-parallel-size=2", "pipeline-parallel-size=2", "gradient_accumulation_steps=2"]),
    ("small/vit-tiny", "--ranks 2 --strategy tensor --precision bf16", 2,
     ["--tensor-model-parallel-size=2", "tensor-parallel-size=2", "tensor_parallel.autotp_size=2"]),
    ("small/moe-capacity", "--ranks 4", 4, ["--expert-model-parallel-size=4", "enable-expert-parallel=true", "expert_parallel.autoep_size=4"]),
    ("small/gpt2-uneven", "--ranks 4 --strategy data", 4, ["--global-batch-size=8", "data-parallel-size=4", "train_batch_size=8"]),
    ("small/resnet50-narrow", "--ranks 4 --strategy channel", 4, None),
    ("graphs/gpt3-175b", "--cluster 5x8:h100-80gb --strategy layer,tensor --mesh layer=5,tensor=8 --micro-batches 4", 40,
     ["--pipeline-model-parallel-layout=E", "pipeline-parallel-size=5", "pipeline.stages=5"]),
    ("graphs/llama-3-70b", "--cluster 1x8:h100-80gb --precision fp16 --strategy tensor", 8,
     ["--fp16", "tensor-parallel-size=8", "tensor_parallel.autotp_size=8"]),
]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def path_of(models, name):
    folder = os.path.join(models, name)
    return os.path.join(folder, "model.onnx") if os.path.isdir(folder) else folder + ".onnx.gz"


def export(model, plan, system, devices, wanted, out):
    """What is wrong, or nothing."""
    done = run("autopar", "plan", model, "--plan", plan, "--export", system, out)
    if wanted is None:
        return "" if done.returncode == 1 and "has no setting for this plan" in done.stderr else f"not refused: {done.stderr}"
    if done.returncode != 0:
        return done.stderr
    checked = run(sys.executable, os.path.join(HERE, "check_export.py"), system, out, str(devices))
    if checked.returncode != 0:
        return checked.stderr
    settings = checked.stdout.split()
    return "" if any(setting.startswith(wanted) for setting in settings) else f"no {wanted} in {settings}"


def main():
    models, folder = sys.argv[1:]
    plan, out = os.path.join(folder, "plan.json"), os.path.join(folder, "settings")
    files = refused = failed = 0
    for name, options, devices, wanted in MODELS:
        model = path_of(models, name)
        planned = run("autopar", "plan", model, *options.split(), "--json", plan)
        for index, system in enumerate(SYSTEMS):
            problem = planned.stderr if planned.returncode != 0 else \
                export(model, plan, system, devices, wanted and wanted[index], out)
            if problem:
                print(f"{name}, {system}: {problem}")
            failed += bool(problem)
            refused += not problem and wanted is None
            files += not problem and wanted is not None
    print(f"{files} files, {refused} refused")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
