"""Checks a plan's table on standard input: what a device does in a step adds up to the step. Prints how many lines did."""

import re
import sys

UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1}


def seconds(text):
    return [float(number) * UNITS[unit] for number, unit in re.findall(r"([0-9.]+) (us|ms|s)\b", text)]


table = sys.stdin.read()
step = seconds(re.search(r"^step .*predicted", table, re.MULTILINE).group())[0]
lines = re.findall(r"^  (?:stage \d+|a device) .*computing.*$", table, re.MULTILINE)
for line in lines:
    assert abs(sum(seconds(line)) - step) <= 0.01 * step, f"{line} of {step} s"
print(len(lines), "add up")
