"""Runs the tests that are built, side by side, and says in a few lines what they found.

  run.py PROGRAM [--width N] [--repeat N] [--seconds SECONDS] [--log FILE] [--slowest N] [--filter PATTERN]… [--skip PATTERN]…

PROGRAM is the built test program. Scripts/test starts this, and says what its arguments mean. Ends with 0 when all tests pass, and 1 when one fails.
Ends with 64 for wrong arguments, 65 when there is no test to run, 69 without PROGRAM or its log, and 128 and its number after a signal.

The tests' own output goes to the log. This program follows the stream of events. A test that waits for its turn has "started" there too. So the
time of one test can be told only where the tests run one after the other: with --width 1.
"""

import argparse
import contextlib
import json
import os
import pathlib
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import time

NEWS_AFTER = 30.0
# The test program's status when no test has such a name.
NO_TEST = 69
# Tests make and remove many small files, which costs a disk a tenth of the whole run. A run is below a gigabyte.
MEMORY = "/dev/shm"
ENOUGH = 4 << 30


class Run:
    """One start of the test program."""

    def __init__(self, options):
        self.options = options
        self.passed = 0
        self.skipped = 0
        self.failures = {}  # test → sentences
        self.under_way = {}  # test → when it began, or began to wait for its turn
        self.took = {}  # test → seconds
        self.closing = None
        self.hung = False
        self.process = None

    def start(self, pipe, log, folder):
        environment = dict(os.environ, TMPDIR=folder)
        environment["SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH"] = str(self.options.width)
        # Swift Testing takes a backtrace for each error that is thrown, also where the error is caught. None of these is printed.
        environment.setdefault("SWT_SWIFT_ERROR_BACKTRACING_ENABLED", "0")
        command = [self.options.program, "--testing-library", "swift-testing", "--event-stream-output-path", pipe, "--event-stream-version", "0"]
        command += [word for pattern in self.options.filter for word in ("--filter", pattern)]
        command += [word for pattern in self.options.skip for word in ("--skip", pattern)]
        command += ["--no-parallel"] if self.options.width == 1 else []
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=environment, start_new_session=True
        )

    def stop(self):
        """Ends the program, and what it has started and left in its group."""
        if self.process:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def note(self, line):
        try:
            record = json.loads(line)
            event = record["payload"]
            if record["kind"] == "event":
                self.note_event(event["kind"], event.get("testID"), event["instant"]["absolute"], event)
        except (ValueError, KeyError, TypeError):
            self.fail(f"an event that cannot be read: {line[:200]!r}")

    def note_event(self, kind, test, at, event):
        if kind == "testStarted" and ".swift:" in test:
            self.under_way[test] = at
        elif kind == "testEnded" and test in self.under_way:
            self.took[test] = at - self.under_way.pop(test)
            if test not in self.failures:
                self.passed += 1
        elif kind == "testSkipped" and ".swift:" in test:
            self.skipped += 1
        elif kind == "issueRecorded" and is_failure(event.get("issue", {})):
            place = event.get("issue", {}).get("sourceLocation") or {}
            text = " ".join(message["text"] for message in event.get("messages", []))
            sentence = f"{shown(test)}: {text} ({place.get('fileID', '?')}:{place.get('line', '?')})"
            self.failures.setdefault(test, []).append(sentence)
            say("✘ " + sentence)
        elif kind == "runEnded":
            self.closing = " ".join(message["text"] for message in event.get("messages", []))

    def fail(self, sentence):
        """Something failed that is no test."""
        self.failures.setdefault("", []).append(sentence)
        say("✘ " + sentence)

    def run(self):
        try:
            self.follow()
        finally:
            self.stop()
        self.judge()

    def follow(self):
        """Follows the events until the program has ended. A program without news for too long is ended."""
        place = tempfile.TemporaryDirectory(prefix="gannet-test-", dir=memory_folder(), ignore_cleanup_errors=True)
        with place as folder, open(self.options.log, "ab") as log:
            pipe = os.path.join(folder, "events")
            os.mkfifo(pipe)
            # Open for writing here too, so that the pipe neither blocks before the program writes nor ends before this program says so.
            reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
            holding = os.open(pipe, os.O_WRONLY)
            selector = selectors.DefaultSelector()
            selector.register(reading, selectors.EVENT_READ)
            files = os.path.join(folder, "t")
            os.mkdir(files)
            self.start(pipe, log, files)
            # A line may be megabytes long and come in many pieces.
            pieces, begun = [], time.monotonic()
            news, told = begun, begun
            while True:
                ended = self.process.poll() is not None
                if selector.select(0 if ended else 0.2):
                    first, *others = os.read(reading, 1 << 20).split(b"\n")
                    pieces.append(first)
                    for other in others:
                        self.note(b"".join(pieces))
                        pieces = [other]
                    news = time.monotonic()
                elif ended:
                    break
                now = time.monotonic()
                if now - told >= NEWS_AFTER:
                    told = now
                    say(f"{self.passed} tests have passed after {now - begun:.0f} s")
                if now - news >= self.options.seconds and not self.hung:
                    self.hung = True
                    log.write(where_threads_are(self.process.pid))
                    self.stop()
            os.close(reading)
            os.close(holding)

    def judge(self):
        """Says what the events alone do not: that the program hung, crashed, or failed without the failure of a test."""
        status = self.process.returncode
        if self.hung or self.closing is None:
            left = [shown(test) for test in self.under_way]
            names = ", ".join(left[:8]) + (f" and {len(left) - 8} others, which may only wait for their turn" if len(left) > 8 else "")
            reason = f"no news for {self.options.seconds} s" if self.hung else f"the test program ended with {status}"
            self.fail(f"{reason}. Tests that have not ended: {names or 'none'}. Its output is in {self.options.log}")
        elif status not in (0, 1, NO_TEST) or (status == 1 and not self.failures):
            self.fail(f"the test program ended with {status}")


def memory_folder():
    """Where files live in memory, or None where TMPDIR says another place, or where there is too little of it or no program may run."""
    with contextlib.suppress(OSError):
        system = os.statvfs(MEMORY)
        room = min(system.f_bavail * system.f_frsize, os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        if "TMPDIR" not in os.environ and room >= ENOUGH and not system.f_flag & os.ST_NOEXEC and os.access(MEMORY, os.W_OK):
            return MEMORY
    return None


def where_threads_are(pid):
    """The stacks of a hung program's threads by gdb, or else where each waits in the kernel; and all processes."""
    gdb = ["gdb", "-p", str(pid), "-batch", "-ex", "set pagination off", "-ex", "thread apply all bt 30"]
    found = b""
    for command in (gdb, ["ps", "-L", "-o", "tid,comm,stat,wchan:32", "-p", str(pid)], ["ps", "-ef", "--forest"]):
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
            found += b"\n" + " ".join(command).encode() + b"\n" + run.stdout
    return found


def is_failure(issue):
    """Neither one that the test expects, nor a warning."""
    return not issue.get("isKnown") and issue.get("severity", issue.get("_severity", "error")) == "error"


def shown(test):
    """`QueueTests.FairnessTests/`a queue …`()/FairnessTests.swift:12:6` without the place."""
    return re.sub(r"\(\)?[^/]*/[^/]*$", "", test or "?").replace("`", "")


def say(sentence):
    print(sentence, flush=True)


def once(options):
    begun = time.monotonic()
    run = options.current = Run(options)
    run.run()
    took = sorted(((seconds, test) for test, seconds in run.took.items()), reverse=True)
    if options.width == 1 and took:
        say("\nThe slowest tests:")
        for seconds, test in took[: options.slowest]:
            say(f"  {seconds:6.1f} s  {shown(test)}")
    if run.failures:
        say("\nWhat failed:")
        for sentences in run.failures.values():
            for sentence in sentences:
                say("✘ " + sentence)
    say(f"\nAll of it took {time.monotonic() - begun:.0f} s. The output of the tests is in {options.log}")
    skipped = f", {run.skipped} skipped, because the machine has not what they need" if run.skipped else ""
    say(f"{run.passed} passed, {len(run.failures)} failed{skipped}")
    if run.failures:
        return 1
    if run.passed == 0:
        say("No test ran." if run.skipped or not options.filter + options.skip else "No test has such a name.")
        return 65
    return 0


class Arguments(argparse.ArgumentParser):
    def error(self, message):
        self.exit(64, f"run.py: {message}\n")


def positive(text):
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    return int(text)


def main():
    parser = Arguments(add_help=False)
    parser.add_argument("program")
    parser.add_argument("--width", type=positive, default=4 * (os.cpu_count() or 1))
    parser.add_argument("--repeat", type=positive, default=1)
    parser.add_argument("--seconds", type=positive, default=180)
    parser.add_argument("--log", default=".build/tests.log")
    parser.add_argument("--slowest", type=positive, default=10)
    parser.add_argument("--filter", action="append", default=[])
    parser.add_argument("--skip", action="append", default=[])
    options = parser.parse_args()
    options.current = None
    try:
        pathlib.Path(options.log).write_bytes(b"")
    except OSError as error:
        parser.exit(69, f"run.py: the log {options.log} cannot be written: {error.strerror}\n")
    if not os.access(options.program, os.X_OK):
        parser.exit(69, f"run.py: there is no program {options.program}; Scripts/test builds it\n")

    def end(number, _):
        if options.current:
            options.current.stop()
        sys.exit(128 + number)

    signal.signal(signal.SIGINT, end)
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGHUP, end)
    result, failed = 0, 0
    for number in range(1, options.repeat + 1):
        if options.repeat > 1:
            say(f"\nRun {number} of {options.repeat}:")
        outcome = once(options)
        failed += outcome != 0
        result = max(result, outcome)
    if options.repeat > 1:
        say(f"{options.repeat - failed} of {options.repeat} runs passed.")
    return result


sys.exit(main())
