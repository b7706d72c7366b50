"""TRACE.json STAGES MICRO_BATCHES: checks a simulated timeline: every stage does the same in each micro-batch, nothing overlaps on a
stream, and memory is told."""

import collections
import json
import sys

events = json.load(open(sys.argv[1]))["traceEvents"]
stages, micro_batches = int(sys.argv[2]), int(sys.argv[3])
work = [event for event in events if event["ph"] == "X"]
names = collections.defaultdict(list)
streams = collections.defaultdict(list)
for event in work:
    names[event["pid"], event["args"]["micro_batch"]].append(event["name"])
    streams[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
assert set(names) == {(stage, batch) for stage in range(stages) for batch in range(micro_batches)}, sorted(names)
for stage in range(stages):
    assert all(names[stage, batch] == names[stage, 0] for batch in range(micro_batches)), stage
for stream, spans in streams.items():
    spans.sort()
    assert all(end <= start + 1e-6 for (_, end), (start, _) in zip(spans, spans[1:])), stream
memory = [event["args"] for event in events if event["ph"] == "C"]
assert len(memory) == len(work) and all(row["weights"] > 0 and row["activations"] >= 0 for row in memory)
print(f"{stages} stages, {micro_batches} micro-batches, nothing overlaps on a stream")
