"""Runs commands that must fail as commands do: exit code 1 to 99, nothing on stdout, no output file. `fails.py OUTPUT COMMAND...`

Prints what the command said on stderr.
"""

import os
import subprocess
import sys


def main():
    output, *command = sys.argv[1:]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    print(done.stderr, end="")
    assert 1 <= done.returncode <= 99, f"exit code {done.returncode}"
    assert not done.stdout, f"on stdout: {done.stdout}"
    assert not os.path.exists(output), f"{output} was written"
    first = done.stderr.splitlines()[0]
    assert first.startswith("autopar: error: "), f"no message: {first}"


if __name__ == "__main__":
    main()
