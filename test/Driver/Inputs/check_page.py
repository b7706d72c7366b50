"""Reads a page of `autopar plan --html` as a browser would, and says what it holds: check_page.py PAGE"""

import json
import sys
from html.parser import HTMLParser


class Page(HTMLParser):
    """The texts of the page's scripts, and the attributes that could load something."""

    def __init__(self):
        super().__init__()
        self.scripts, self.loads, self.kind = [], [], None

    def handle_starttag(self, tag, attrs):
        self.loads += [value for name, value in attrs if name in ("src", "href", "data", "action")] + [tag] * (tag in ("link", "iframe", "img"))
        if tag == "script":
            self.scripts.append("")
            self.kind = tag

    def handle_endtag(self, tag):
        self.kind = None

    def handle_data(self, data):
        if self.kind == "script":
            self.scripts[-1] += data


def check_entry(facts):
    """Counts that must agree with the plan."""
    plan, texts = facts["plan"], facts["texts"]
    groups = [(range(group["first_stage"], group["last_stage"] + 1), group["runs"]) for group in facts["layers"]]
    assert [stage for stages, _ in groups for stage in stages] == list(range(plan["stages"])), "a stage has no layers"
    assert len(facts["timeline"]) == len(facts["stage_costs"]) == len(plan["predicted_stage_memory_bytes"]) == plan["stages"]
    ops = [op for stages, runs in groups for _ in stages for run in runs for op in run["ops"] * run["count"]]
    computed = sum(part["seconds"] for part in facts["parts"] if part["name"] != "communication")
    assert abs(sum(op["compute_seconds"] for op in ops) / computed - 1) < 1e-6, "the ops' seconds are not those of the parts"
    for op in ops:
        assert len(op["outcomes"]) == len(facts["axes"])
        assert all(0 <= number < len(texts) for number in [op["kind"], op["strategy"], *op["outcomes"]])
    assert abs(facts["changed_clusters"][0]["step_seconds"] / plan["predicted_step_seconds"] - 1) < 1e-6
    assert all(changed["step_seconds"] <= facts["changed_clusters"][0]["step_seconds"] for changed in facts["changed_clusters"])
    stages = facts["devices"]["stages"]
    assert len(stages) == plan["stages"] and min(stage["memory_limit_bytes"] for stage in stages) == facts["memory_limit_bytes"]
    assert all(bytes <= stage["memory_limit_bytes"] for stage, bytes in zip(stages, plan["predicted_stage_memory_bytes"]) if stage["memory_limit_bytes"])
    if len({stage["type"] for stage in stages}) > 1:
        print("on", ", ".join(f"{stage['type']} of {stage['memory_limit_bytes']} bytes" for stage in stages))
    assert len(facts["held_tensors"]) == plan["stages"] and all(facts["held_tensors"])
    for stage in facts["timeline"]:
        for rows in stage["streams"]:
            assert all(a[0] + a[1] <= b[0] + 1 for a, b in zip(rows, rows[1:])), "a stream does two things at once"
            assert rows == [] or rows[-1][0] + rows[-1][1] <= facts["simulated_seconds"] * 1e9 + 1
        assert all(bytes <= stage["arena_bytes"] for _, bytes in stage["memory"])
    repeated = max(run["count"] for _, runs in groups for run in runs)
    print(f"{facts['entry'] or 'the plan'}: {plan['stages']} stages, {len(ops)} ops, repeated {repeated} times, {len(facts['tried'])} tried, "
          f"{len(facts['devices']['messages'])} pairs send, {facts['memory_limit_bytes']} bytes at most")
    return ops


with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
page = Page()
page.feed(text)
assert len(page.scripts) == 2, f"{len(page.scripts)} scripts: a name has ended one"
assert not page.loads, f"the page loads {page.loads}"
assert "http" not in text.replace(page.scripts[0], ""), "the page names an address"
for entry in json.loads(page.scripts[0])["entries"]:
    ops = check_entry(entry)
print("first", ops[0]["name"])
