"""Compares the bytes on a device that a plan file, the table of `compile` and an executable tell. Usage: memory_told.py DIR"""

import json
import re
import sys
from pathlib import Path


def text_of(bytes):
    """Returns the bytes as the table has them, such as `4.2 MiB`."""
    unit = 0
    while bytes >= 1024:
        bytes, unit = bytes / 1024, unit + 1
    return f"{bytes:.1f} {['B', 'KiB', 'MiB', 'GiB'][unit]}"


def main(folder):
    plan = json.loads((folder / "plan.json").read_text())
    stages = plan["predicted_stage_memory_bytes"]
    assert plan["predicted_peak_memory_bytes"] == max(stages), plan
    described = json.loads((folder / "described.json").read_text())["entries"][0]
    assert described["predicted_peak_memory_bytes"] == stages, (described["predicted_peak_memory_bytes"], stages)
    told = re.search(r"^memory +(.*) per device predicted$", (folder / "table.txt").read_text(), re.MULTILINE)
    assert told and told[1] == text_of(max(stages)), (told, stages)


main(Path(sys.argv[1]))
