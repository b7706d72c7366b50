"""Runs a program on a terminal: on_terminal.py COLUMNS PROGRAM ARGUMENT ...

Prints what the terminal has shown last, and of its lines the longest one's length. 0 columns: the terminal does not know its width.
"""

import fcntl
import os
import pty
import re
import struct
import sys
import termios

columns, command = int(sys.argv[1]), sys.argv[2:]
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("4H", 24 if columns else 0, columns, 0, 0))
    os.execv(command[0], command)
shown = b""
while True:
    try:
        shown += os.read(terminal, 1 << 16)
    except OSError:  # the child has ended
        break
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
lines = [re.sub(r"\x1b\[K", "", line) for line in re.split(r"[\r\n]+", shown.decode())]
bars = [line for line in lines if " left" in line]
print(bars[-1])
print(f"exit code {code}, at most {max(map(len, bars))} columns")
