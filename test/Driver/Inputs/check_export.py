"""Checks settings that `autopar plan --export` wrote: names and values that the systems' parsers take, sizes that fit the devices.

    python check_export.py megatron|vllm|deepspeed FILE DEVICES

export_names.json has the names, with the files and commits of the systems that they were read from. Prints the settings in
the file's order, `name=value` each, after `ok`.
"""

import json
import os
import re
import shlex
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LAYOUT = re.compile(r"E(t*\|)*t*L")


def of_shell(text):
    """The array PLAN_ARGS of a shell file, comments left out."""
    words = shlex.split(text, comments=True)
    assert words[0] == "PLAN_ARGS=(" and words[-1] == ")", "the file is no array PLAN_ARGS"
    settings = {}
    for word in words[1:-1]:
        if word.startswith("--"):
            name = word
            assert name not in settings, f"{name} stands twice"
            settings[name] = ""
        else:
            assert settings[name] == "", f"{name} has two values"
            settings[name] = word
    return settings


def of_yaml(text):
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return dict(line.split(": ") for line in lines)


def of_json(text):
    """Nested keys joined by dots."""
    def flat(value, prefix):
        if not isinstance(value, dict):
            return {prefix: json.dumps(value)}
        return {key: item for name, inner in value.items() for key, item in flat(inner, f"{prefix}.{name}".lstrip(".")).items()}
    return flat(json.loads(text), "")


def check(settings, known):
    for name, value in settings.items():
        if name in known["integer"]:
            assert re.fullmatch(r"\d+", value), f"{name} is no number: {value}"
            assert int(value) > 0 or name.endswith("stage"), f"{name} is {value}"
        elif name in known["flag"]:
            assert value in ("", "true"), f"{name} takes no value: {value}"
        elif name in known["choice"]:
            assert value in known["choice"][name], f"{name} does not take {value}"
        else:
            assert name in known.get("layout", []), f"{name} is no setting"
            assert LAYOUT.fullmatch(value), f"{name} is no layout: {value}"
            assert value.count("|") + 1 == int(settings["--pipeline-model-parallel-size"]), f"{name} has other stages: {value}"


def check_devices(system, settings, devices):
    """Model axes divide the devices; batches are multiples of what they are cut into."""
    size = lambda name: int(settings.get(name, 1))
    if system == "megatron":
        data, rest = divmod(devices, size("--tensor-model-parallel-size") * size("--pipeline-model-parallel-size") * size("--context-parallel-size"))
        assert rest == 0 and data > 0, "the sizes do not fit the devices"
        assert size("--global-batch-size") % (size("--micro-batch-size") * data) == 0, "the batch is no multiple"
        experts = size("--expert-model-parallel-size") * size("--expert-tensor-parallel-size") * size("--pipeline-model-parallel-size")
        assert "--expert-model-parallel-size" not in settings or devices % experts == 0, "the experts do not fit the devices"
    elif system == "vllm":
        assert size("tensor-parallel-size") * size("pipeline-parallel-size") * size("data-parallel-size") == devices, "the sizes do not fit the devices"
    else:
        model = size("tensor_parallel.autotp_size") * size("pipeline.stages") * size("sequence_parallel_size")
        assert devices % model == 0, "the sizes do not fit the devices"
        batch = size("train_micro_batch_size_per_gpu") * size("gradient_accumulation_steps") * (devices // model)
        assert batch == size("train_batch_size"), "the batch is not micro-batch times steps times data devices"


def main():
    system, path, devices = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with open(os.path.join(HERE, "export_names.json"), encoding="utf-8") as file:
        known = json.load(file)[system]
    with open(path, encoding="utf-8") as file:
        settings = {"megatron": of_shell, "vllm": of_yaml, "deepspeed": of_json}[system](file.read())
    check(settings, known)
    check_devices(system, settings, devices)
    print("ok", *(f"{name}={value}" if value else name for name, value in settings.items()))


if __name__ == "__main__":
    main()
