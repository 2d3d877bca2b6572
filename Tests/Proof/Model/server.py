"""A real redis-server whose clock stands still until it is moved, and the scripts of Sources/Queue on it."""

import mmap
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
SCRIPTS = ROOT / "Sources/Queue/Scripts"
SHIM = ROOT / "Tests/GannetTestKit/Redis/clock-shim.c"
PARTS = {
    name: folder
    for folder, names in {
        "Parts": ["clock", "lists", "blocks", "counts", "hosts", "rests", "turns", "locks", "comeBack"],
        "Exchange": ["settle", "ends", "handOut", "returns", "carryOn", "aside", "due"],
    }.items()
    for name in names
}


def compiler():
    """A C compiler. Scripts/setup takes the toolchain's own for one too."""
    return next(filter(None, map(shutil.which, ["cc", "gcc", "clang"])))


class RedisError(Exception):
    pass


# The model's hosts differ by what stands aside there alone: all answers take as long as one whose time is not known.
ALIKE = ("turns.lua", "(Hosts.took[name] or USUAL_TIME)", "USUAL_TIME")


class Scripts:
    """The scripts as ClusterScripts.swift composes them. A planted fault is a replacement of text in one of the files."""

    def __init__(self, faults=()):
        self.faults = [ALIKE, *faults]
        self.texts = {name: b"local PART_BYTES = 4194304\n" + self.compose(SCRIPTS / f"{name}.lua") for name in ("enqueue", "exchange", "acquire", "control")}

    def compose(self, path):
        text = path.read_text()
        for file, old, new in self.faults:
            if file == path.name:
                if text.count(old) != 1:
                    raise SystemExit(f"proof: {file} has not once what a planted fault replaces: {old}")
                text = text.replace(old, new)

        def part(match):
            return "\n".join(self.compose(SCRIPTS / PARTS[name] / f"{name}.lua").decode() for name in match[1].split())

        return re.sub(r"^ *--@ (.+)$", part, text, flags=re.MULTILINE).encode()


class Server:
    """Ends its process when it is left."""

    MOVED_BY_CALLS = 5000  # ms: lease time goes on by no more between two calls

    def __init__(self, scripts):
        self.scripts = scripts
        self.folder = tempfile.TemporaryDirectory(prefix="gannet-proof-")
        folder = pathlib.Path(self.folder.name)
        library, clock = folder / "clock.so", folder / "clock"
        subprocess.run([compiler(), "-shared", "-fPIC", "-O2", "-o", library, SHIM], check=True)
        clock.write_bytes(struct.pack("=qq", 0, time.time_ns() // 10**9 * 10**9))
        with open(clock, "r+b") as file:
            self.clock = mmap.mmap(file.fileno(), 16)
        self.process = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", folder / "s", "--dir", folder, "--save", "", "--logfile", folder / "log"],
            env=os.environ | {"GANNET_CLOCK_FILE": str(clock), "LD_PRELOAD": str(library)},
        )
        end = time.monotonic() + 60
        self.socket = socket.socket(socket.AF_UNIX)
        while True:
            try:
                self.socket.connect(str(folder / "s"))
                break
            except OSError:
                if time.monotonic() > end or self.process.poll() is not None:
                    raise SystemExit(f"proof: redis-server does not start: {(folder / 'log').read_text()}")
        self.reader = self.socket.makefile("rb")
        self.digests = {name: self.call("SCRIPT", "LOAD", text).decode() for name, text in scripts.texts.items()}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.socket.close()
        self.folder.cleanup()

    def advance(self, milliseconds):
        offset, moment = struct.unpack("=qq", self.clock[:])
        self.clock[:] = struct.pack("=qq", offset + milliseconds * 10**6, moment)

    def now(self):
        seconds, micros = self.call("TIME")
        return int(seconds) * 1000 + int(micros) // 1000

    def run(self, script, keys, *arguments):
        return self.call("EVALSHA", self.digests[script], len(keys), *keys, *arguments)

    def call(self, *words):
        return self.pipeline([words])[0]

    def pipeline(self, commands):
        """The replies. The first error among them is raised."""
        packet = b""
        for words in commands:
            words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
            packet += b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
        self.socket.sendall(packet)
        replies = [self.read() for _ in commands]
        for reply in replies:
            if isinstance(reply, RedisError):
                raise reply
        return replies

    def read(self):
        line = self.reader.readline()
        if not line.endswith(b"\r\n"):
            raise SystemExit("proof: redis-server has ended")
        kind, text = line[:1], line[1:-2]
        if kind == b"-":
            return RedisError(text.decode())
        if kind == b"+":
            return text
        if kind == b":":
            return int(text)
        if int(text) < 0:
            return None
        if kind == b"$":
            return self.reader.read(int(text) + 2)[:-2]
        return [self.read() for _ in range(int(text))]
