"""Checks predicted collectives against measured ones: mean errors of at most 10% from 64 MiB, 15% from 1 MiB, 25% below, and of each
system half as much again. Prints the errors; fails where one is over its bound or a timed row has no prediction."""

import collections
import csv
import sys

MIB = 1 << 20
BOUNDS = {"64 MiB and above": 0.10, "1 to 64 MiB": 0.15, "below 1 MiB": 0.25}


def size_class(size):
    return "64 MiB and above" if size >= 64 * MIB else "1 to 64 MiB" if size >= MIB else "below 1 MiB"


def mean(values):
    return sum(values) / len(values)


with open(sys.argv[1]) as file:
    rows = [row for row in csv.DictReader(file) if row["time_us"]]
errors = collections.defaultdict(lambda: collections.defaultdict(list))
predicted = [row for row in rows if row["predicted_us"]]
print(f"{len(rows)} rows, {len(predicted)} predicted")
for row in predicted:
    error = abs(float(row["predicted_us"]) / float(row["time_us"]) - 1)
    errors[size_class(int(row["size_bytes"]))][row["system"]].append(error)
over = len(rows) - len(predicted)
for size, bound in BOUNDS.items():
    every = [error for system in errors[size].values() for error in system]
    print(f"{size}: {mean(every):.1%} of {len(every)} rows, at most {bound:.0%}")
    over += mean(every) > bound
    for system, values in errors[size].items():
        print(f"  {system}: {mean(values):.1%} of {len(values)} rows")
        over += mean(values) > 1.5 * bound
print(f"{over} bounds exceeded" if over else "within the bounds")
sys.exit(over > 0)
