"""Runs a program while its log is being written by another, and afterwards: two_runs.py PROGRAM DATA LOG"""

import fcntl
import subprocess
import sys

program, data, log = sys.argv[1:]
command = [program, "--data", data, "--steps", "5", "--log", log]
with open(log, "w+") as first:
    fcntl.flock(first, fcntl.LOCK_EX)  # as a run that goes on does
    first.write("".join(f'{{"step": {step}}}\n' for step in range(3)))
    first.flush()
    second = subprocess.run(command, capture_output=True, text=True, timeout=100)
    print(second.stderr.strip().splitlines()[-1])
    first.seek(0)
    print(f"exit code {second.returncode}, the first run's log has {len(first.readlines())} lines")
subprocess.run(command, check=True, capture_output=True, timeout=100)
with open(log) as file:
    print("afterwards", len(file.readlines()), "lines")
