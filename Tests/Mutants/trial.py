"""Runs tests until the first one fails."""

import dataclasses
import json
import os
import pathlib
import re
import resource
import select
import shutil
import signal
import subprocess
import tempfile
import time

from tree import environment

# No test is silent for so long, and no room takes so long. A stage of several rooms has three times as long.
SILENCE, LONGEST, LONGEST_AGAIN = 120, 15 * 60, 60
# A fault that grows a list or a file for ever ends the test program, and not the machine. The stacks of threads count too, 8 MB each.
MOST_MEMORY, LARGEST_FILE = 16 << 30, 8 << 30
KEPT_OUTPUT = 100_000


@dataclasses.dataclass
class Outcome:
    """How a run of tests ended: it `passes`, `fails`, `crashes` or `hangs`. The tests are the failed one, or all that had not ended."""

    how: str
    tests: list[str] = dataclasses.field(default_factory=list)

    @property
    def finder(self) -> str:
        return ", ".join(self.tests[:4]) or "no test ran"


def limit() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Events:
    """The events that the test program writes while it runs: a line of JSON for each."""

    def __init__(self):
        self.rest, self.functions, self.unfinished = b"", set(), {}
        self.failed: str | None = None
        self.is_over = False

    def take(self, data: bytes) -> None:
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            if line.strip():
                record = json.loads(line)
                self.note(record["kind"], record["payload"])

    def note(self, kind: str, payload: dict) -> None:
        if kind == "test":
            if payload["kind"] == "function":
                self.functions.add(payload["id"])
            return
        test = payload.get("testID", "")
        match payload["kind"]:
            case "testStarted" if test in self.functions:
                self.unfinished[test] = True
            case "testEnded":
                self.unfinished.pop(test, None)
            case "issueRecorded":
                issue = payload.get("issue", {})
                severity = issue.get("severity", issue.get("_severity", "error"))
                if not issue.get("isKnown") and severity == "error":
                    self.failed = self.failed or named(test) or "an issue without a test"
            case "runEnded":
                self.is_over = True


def named(test: str) -> str:
    """A test without the line where it stands, which changes."""
    return re.sub(r"/[^/]*\.swift:\d+:\d+$", "", test)


class Trial:
    """A run of the test program with a process group of its own."""

    count = 0

    def __init__(self, tree: pathlib.Path, program: pathlib.Path, log: pathlib.Path):
        self.tree, self.program, self.log = tree, program, log

    def tests(self, targets: tuple[str, ...]) -> Outcome:
        return self.run(f"^({'|'.join(targets)})\\.", LONGEST * (1 if len(targets) == 1 else 3))

    def test(self, name: str) -> Outcome:
        """One test alone. Its name may have characters that mean something in a pattern. A test that takes long has not passed."""
        return self.run("^" + re.sub(r"\W", ".", name), LONGEST_AGAIN)

    def run(self, pattern: str, longest: float) -> Outcome:
        # Names of sockets have to be short.
        folder = pathlib.Path(tempfile.mkdtemp(prefix="gm-", dir="/tmp"))
        Trial.count += 1
        mark = f"GANNET_MUTANT={os.getpid()}-{Trial.count}"
        pipe = folder / "events"
        os.mkfifo(pipe)
        # We hold it open for writing too, so that it does not end before the program has opened it.
        reader = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
        words = [self.program, "--testing-library", "swift-testing", "--filter", pattern]
        words += ["--event-stream-output-path", pipe, "--event-stream-version", "0"]
        variables = environment(
            SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH="8", SWT_SWIFT_ERROR_BACKTRACING_ENABLED="0", TMPDIR=str(folder),
            GANNET_MUTANT=mark.partition("=")[2],
        )
        process = None
        try:
            with (folder / "output").open("wb") as output:
                process = subprocess.Popen(
                    words, cwd=self.tree, env=variables, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
                    preexec_fn=limit,
                )
            return self.watch(process, reader, longest)
        finally:
            if process:
                end(process, mark)
            os.close(reader)
            self.keep(folder / "output")
            shutil.rmtree(folder, ignore_errors=True)

    def watch(self, process: subprocess.Popen, reader: int, longest: float) -> Outcome:
        events, begun = Events(), time.monotonic()
        news = begun
        while True:
            has_ended = process.poll() is not None
            if select.select([reader], [], [], 0 if has_ended else 0.5)[0]:
                events.take(os.read(reader, 1 << 20))
                news = time.monotonic()
                if events.failed:
                    return Outcome("fails", [events.failed])
                continue
            unfinished = [named(test) for test in events.unfinished]
            if has_ended:
                # Tests that no test fits end it with another code, and have no run.
                return Outcome("passes") if events.is_over and process.returncode == 0 else Outcome("crashes", unfinished)
            now = time.monotonic()
            if now - news > SILENCE or now - begun > longest:
                return Outcome("hangs", unfinished)

    def keep(self, output: pathlib.Path) -> None:
        """The end of what the program printed, for whoever wants to know more."""
        with output.open("rb") as file:
            file.seek(max(0, output.stat().st_size - KEPT_OUTPUT))
            self.log.write_bytes(file.read())


def end(process: subprocess.Popen, mark: str) -> None:
    """Ends the test program. Its watchdog ends the servers then, and what is left after some seconds is ended here."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for _ in range(50):
        if not marked(mark):
            return
        time.sleep(0.1)
    for one in marked(mark):
        try:
            os.kill(one, signal.SIGKILL)
        except ProcessLookupError:
            pass


def marked(mark: str) -> list[int]:
    """All processes that the test program has started, whoever their parent is now."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            pass
    return found
