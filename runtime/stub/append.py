#!/usr/bin/env python3
"""Appends a program to the stub: append.py STUB PROGRAM.so EXE.

For tests; the compiler does the same itself. See docs/RuntimeABI.md.
"""
import os
import struct
import sys


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def main():
    stub_path, program_path, exe_path = sys.argv[1:4]
    with open(stub_path, "rb") as file:
        stub = file.read()
    with open(program_path, "rb") as file:
        program = file.read()
    stub += b"\0" * (-len(stub) % 4096)
    trailer = b"AUTOPAR1" + struct.pack(
        "<QQQ", len(stub), len(program), fnv1a(program)
    )
    with open(exe_path + ".tmp", "wb") as file:
        file.write(stub + program + trailer)
    os.chmod(exe_path + ".tmp", 0o755)
    os.replace(exe_path + ".tmp", exe_path)


if __name__ == "__main__":
    main()
