"""Runs the tests that are built, side by side, and says in a few lines what they found.

  run.py PROGRAM [--width N] [--repeat N] [--seconds SECONDS] [--log FILE] [--slowest N] [--filter PATTERN]… [--skip PATTERN]…

PROGRAM is the built test program. Scripts/test starts this, and says what its arguments mean. Ends with 0 when all tests pass, 1 when one fails,
65 when there is none to run, 130 and 143 after a signal.

The tests' own output goes to the log. This program follows the stream of events. A test that waits for its turn has "started" there too. So the
time of one test can be told only where the tests run one after the other: with --width 1.
"""

import argparse
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

# Tests in a suite of this name run one after the other, and after all others. Each says why it cannot have company.
ALONE = r"\.Alone/"
NEWS_AFTER = 30.0
# The test program's status when no test has such a name.
NO_TEST = 69


class Run:
    """One start of the test program."""

    def __init__(self, options, title, arguments, width):
        self.options = options
        self.title = title
        self.arguments = arguments
        self.width = width
        self.passed = 0
        self.failures = {}  # test → sentences
        self.under_way = {}  # test → when it began, or began to wait for its turn
        self.took = {}  # test → seconds
        self.closing = None
        self.hung = False
        self.process = None

    def start(self, pipe, log):
        environment = dict(os.environ)
        environment["SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH"] = str(self.width)
        # Swift Testing takes a backtrace for each error that is thrown, also where the error is caught. None of these is printed.
        environment.setdefault("SWT_SWIFT_ERROR_BACKTRACING_ENABLED", "0")
        command = [self.options.program, "--testing-library", "swift-testing", "--event-stream-output-path", pipe, "--event-stream-version", "0"]
        self.process = subprocess.Popen(
            command + self.arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=environment, start_new_session=True
        )

    def stop(self, number=signal.SIGKILL):
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, number)

    def note(self, line):
        record = json.loads(line)
        if record["kind"] != "event":
            return
        event = record["payload"]
        kind, test, at = event["kind"], event.get("testID"), event["instant"]["absolute"]
        if kind == "testStarted" and ".swift:" in test:
            self.under_way[test] = at
        elif kind == "testEnded" and test in self.under_way:
            self.took[test] = at - self.under_way.pop(test)
            if test not in self.failures:
                self.passed += 1
        elif kind == "issueRecorded" and not event.get("issue", {}).get("isKnown"):
            place = event.get("issue", {}).get("sourceLocation") or {}
            text = " ".join(message["text"] for message in event.get("messages", []))
            sentence = f"{shown(test)}: {text} ({place.get('fileID', '?')}:{place.get('line', '?')})"
            self.failures.setdefault(test, []).append(sentence)
            say("✘ " + sentence)
        elif kind == "runEnded":
            self.closing = " ".join(message["text"] for message in event.get("messages", []))

    def run(self):
        """Follows the events until the program has ended. A program without news for too long is ended."""
        with tempfile.TemporaryDirectory(prefix="gannet-test-") as folder, open(self.options.log, "ab") as log:
            pipe = os.path.join(folder, "events")
            os.mkfifo(pipe)
            # Open for writing here too, so that the pipe neither blocks before the program writes nor ends before this program says so.
            reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
            holding = os.open(pipe, os.O_WRONLY)
            selector = selectors.DefaultSelector()
            selector.register(reading, selectors.EVENT_READ)
            self.start(pipe, log)
            # A line may be megabytes long and come in many pieces.
            pieces, begun = [], time.monotonic()
            news, told = begun, begun
            while True:
                ended = self.process.poll() is not None
                if selector.select(0 if ended else 1):
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
                    self.stop()
            os.close(reading)
            os.close(holding)
        if self.hung or self.closing is None:
            left = [shown(test) for test in self.under_way]
            names = ", ".join(left[:8]) + (f" and {len(left) - 8} others, which may only wait for their turn" if len(left) > 8 else "")
            reason = f"no news for {self.options.seconds} s" if self.hung else f"the test program ended with {self.process.returncode}"
            sentence = f"{self.title}: {reason}. Tests that have not ended: {names or 'none'}. Its output is in {self.options.log}"
            self.failures.setdefault("", []).append(sentence)
            say("✘ " + sentence)
        elif self.process.returncode not in (0, 1, NO_TEST) or (self.process.returncode == 1 and not self.failures):
            self.failures.setdefault("", []).append(f"{self.title}: the test program ended with {self.process.returncode}")
        return self


def shown(test):
    """`QueueTests.FairnessTests/`a queue …`()/FairnessTests.swift:12:6` without the place."""
    return re.sub(r"\(\)?[^/]*/[^/]*$", "", test or "?").replace("`", "")


def say(sentence):
    print(sentence, flush=True)


def rounds(options):
    chosen = [word for pattern in options.filter for word in ("--filter", pattern)]
    left_out = [word for pattern in options.skip for word in ("--skip", pattern)]
    beside = ["--no-parallel"] if options.width == 1 else []
    yield Run(options, "side by side", chosen + left_out + ["--skip", ALONE] + beside, options.width)
    # swift-testing joins several filters by "or", so the second part needs both in one pattern.
    both = [word for pattern in options.filter for word in ("--filter", f"(?=.*{ALONE})(?=.*(?:{pattern}))")]
    yield Run(options, "one after the other", (both or ["--filter", ALONE]) + left_out + ["--no-parallel"], 1)


def once(options):
    begun = time.monotonic()
    runs = []
    for run in rounds(options):
        options.current = run
        runs.append(run.run())
        if run.hung:
            break
    failures = {test: sentences for run in runs for test, sentences in run.failures.items()}
    passed = sum(run.passed for run in runs)
    took = sorted(((seconds, test) for run in runs for test, seconds in run.took.items()), reverse=True)
    if options.width == 1 and took:
        say("\nThe slowest tests:")
        for seconds, test in took[: options.slowest]:
            say(f"  {seconds:6.1f} s  {shown(test)}")
    if failures:
        say("\nWhat failed:")
        for sentences in failures.values():
            for sentence in sentences:
                say("✘ " + sentence)
    say(f"\nAll of it took {time.monotonic() - begun:.0f} s. The output of the tests is in {options.log}")
    say(f"{passed} passed, {len(failures)} failed")
    if failures:
        return 1
    if passed == 0:
        say("No test has such a name.")
        return 65
    return 0


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("program")
    parser.add_argument("--width", type=int, default=4 * (os.cpu_count() or 1))
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=180)
    parser.add_argument("--log", default=".build/tests.log")
    parser.add_argument("--slowest", type=int, default=10)
    parser.add_argument("--filter", action="append", default=[])
    parser.add_argument("--skip", action="append", default=[])
    options = parser.parse_args()
    options.current = None
    pathlib.Path(options.log).write_bytes(b"")

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
