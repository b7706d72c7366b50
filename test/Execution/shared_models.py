"""Where the shared models are, and what a script does where they are absent.

AUTOPAR_SHARED names their folder, by default ../shared beside the repository. Without them a script skips what needs them;
with AUTOPAR_REQUIRE_SHARED=1 that is a failure. lit.cfg.py asks here too.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.path.abspath(os.environ.get("AUTOPAR_SHARED", os.path.join(HERE, "..", "..", "..", "shared")))
SMALL = os.path.join(SHARED, "models", "small")
GRAPHS = os.path.join(SHARED, "models", "graphs")
MAKE_WEIGHTS = os.path.join(SHARED, "models", "make_weights.py")
REQUIRED = os.environ.get("AUTOPAR_REQUIRE_SHARED", "0") not in ("", "0")


def absence_of(path):
    """What to say where `path` of the shared models is absent, "" where it is there."""
    if os.path.exists(path):
        return ""
    return f"the shared models are absent ({path}): set AUTOPAR_SHARED to their folder" + \
        (", for AUTOPAR_REQUIRE_SHARED asks for them" if REQUIRED else "")


def end_without(path, cases=1):
    """Ends a script that is nothing without `path`: so many cases are skipped, or failed where they are required."""
    if absence := absence_of(path):
        print(absence)
        print(f"0 passed, {cases} failed, 0 skipped" if REQUIRED else f"0 passed, 0 failed, {cases} skipped")
        sys.exit(int(REQUIRED))
