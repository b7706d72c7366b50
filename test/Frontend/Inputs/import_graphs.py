"""Imports every .onnx.gz of a folder: python import_graphs.py AUTOPAR_IMPORT FOLDER"""

import os
import shutil
import subprocess
import sys

tool, folder = shutil.which(sys.argv[1]) or sys.argv[1], sys.argv[2]
for name in sorted(os.listdir(folder)):
    if name.endswith(".onnx.gz"):
        done = subprocess.run([tool, os.path.join(folder, name), "--prepare", "--quiet"], capture_output=True, text=True)
        print(name[:-8], "ok" if done.returncode == 0 else f"exit code {done.returncode}: {done.stderr.splitlines()[0]}")
