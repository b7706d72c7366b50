"""Says of each trace whether all its events have names of which a person can tell what they are: check_trace_names.py TRACE..."""

import json
import sys

for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        events = [event for event in json.load(file)["traceEvents"] if event["ph"] == "X"]
    bad = [event for event in events if not event["name"].strip() or event["name"].endswith(" of ") or not event["cat"]]
    print(f"{len(events)} events, all named" if not bad else f"{path}: {len(bad)} of {len(events)} without a name, such as {bad[0]}")
