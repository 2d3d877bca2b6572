"""Clocks of the calendar that a row can move, by the library that the tests preload (clock-shim.c).

The monotonic clocks stay as they are. libfaketime cannot stand in: with it redis-server stops at its start, as the library's head says.
"""

import mmap
import pathlib
import shutil
import struct
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parents[1] / "GannetTestKit" / "Redis" / "clock-shim.c"


class Clock:
    def __init__(self, folder, name):
        compiler = next(filter(None, map(shutil.which, ["cc", "gcc", "clang"])))
        library, file = folder / "clock.so", folder / f"clock-{name}"
        if not library.exists():
            subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-o", library, SOURCE], check=True)
        file.write_bytes(bytes(16))
        with file.open("r+b") as opened:
            self.map = mmap.mmap(opened.fileno(), 16)
        self.environment = {"LD_PRELOAD": str(library), "GANNET_CLOCK_FILE": str(file)}

    def set(self, seconds):
        """So many seconds ahead of the machine's clock."""
        self.map[0:8] = struct.pack("<q", seconds * 10**9)


def missing():
    return None if any(map(shutil.which, ["cc", "gcc", "clang"])) else "a C compiler"
