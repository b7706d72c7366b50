"""Plans a model with memory limits that are too low, and again as the messages advise.

usage: take_advice.py AUTOPAR MODEL
"""

import re
import subprocess
import sys


def plan(*arguments):
    return subprocess.run([*sys.argv[1:2], "plan", sys.argv[2], *arguments], capture_output=True, text=True, timeout=300)


def take_advice(*demands, limit):
    ran = plan("--ranks", "2", *demands, "--memory-limit", limit)
    print(ran.stderr, end="")
    if ran.returncode != 1:
        sys.exit(f"exit code {ran.returncode}")
    if enough := re.search(r"a limit of ([0-9.]+[KMG]iB)", ran.stderr):
        print("that limit: exit code", plan("--ranks", "2", *demands, "--memory-limit", enough[1]).returncode)
    if devices := re.search(r"devices \((.*)\)", ran.stderr):
        if "--mesh" not in demands and "--strategy" not in demands:
            print("those devices: exit code", plan("--cluster", devices[1], "--memory-limit", limit).returncode)


take_advice(limit="500KiB")
take_advice("--mesh", "x=2", limit="600KiB")
take_advice("--strategy", "layer", limit="20KiB")
print(plan("--ranks", "4", "--strategy", "layer,layer").stderr, end="")
