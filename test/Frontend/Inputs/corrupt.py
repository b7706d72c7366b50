"""Imports damaged copies of a model: python corrupt.py AUTOPAR_IMPORT MODEL COUNT

Copies are cut off, have bits flipped, bytes replaced by extreme ones, or pieces moved. Exit codes of 100 and above and signals
are crashes; each is printed with the seed that makes it again.
"""

import collections
import os
import random
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor


def corrupt(data, seed):
    random_ = random.Random(seed)
    out = bytearray(data)
    kind = random_.choice(["cut", "flip", "flip", "extreme", "extreme", "move", "repeat"])
    at = random_.randrange(len(out))
    if kind == "cut":
        return bytes(out[:at])
    if kind in ("flip", "extreme"):
        for _ in range(random_.choice([1, 1, 2, 8])):
            at = random_.randrange(len(out))
            out[at] = out[at] ^ (1 << random_.randrange(8)) if kind == "flip" else random_.choice([0, 1, 0x7F, 0x80, 0xFF])
        return bytes(out)
    piece = out[at:at + random_.randrange(1, 64)]
    if kind == "move":
        del out[at:at + len(piece)]
    to = random_.randrange(len(out))
    return bytes(out[:to] + piece + out[to:])


def main():
    tool, model, count = shutil.which(sys.argv[1]) or sys.argv[1], sys.argv[2], int(sys.argv[3])
    with open(model, "rb") as file:
        data = file.read()
    with tempfile.TemporaryDirectory() as work:

        def attempt(seed):
            path = os.path.join(work, f"{seed}.onnx")
            with open(path, "wb") as file:
                file.write(corrupt(data, seed))
            done = subprocess.run([tool, path, "--prepare", "--quiet"], capture_output=True, timeout=120)
            os.unlink(path)
            crashed = done.returncode < 0 or done.returncode >= 100
            if crashed or (done.returncode and not done.stderr):
                print(f"seed {seed}: exit code {done.returncode}\n{done.stderr.decode(errors='replace')[-600:]}")
                return "crashes"
            return "refused" if done.returncode else "imported"

        with ThreadPoolExecutor(2) as pool:
            counts = collections.Counter(pool.map(attempt, range(count)))
    print(f"{count} corrupted models: {counts['refused']} refused, {counts['imported']} imported, {counts['crashes']} crashes")


if __name__ == "__main__":
    main()
