"""Looks at the queue from outside while faults happen, and afterwards: does a job wait that may run, and does anything grow?"""

import subprocess
import threading
import time

from base import say


class Watch:
    """Samples `status` twice a second in a thread of its own.

    A complaint: jobs wait in `ready`, which no worker has looked at, the fleet has half of its places free, and no job has ended, all for
    longer than a lease and the five seconds within which an idle worker looks for itself. A fault begins the time anew. Suspects and jobs
    of busy hosts wait elsewhere (`aside`).
    """

    def __init__(self, program, lease, room, ready=None):
        self.program, self.limit, self.room, self.ready = program, lease + 5, room, ready
        self.since, self.ended = None, -1
        self.complaints, self.samples, self.last, self.longest = [], 0, None, 0
        self.stops = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def disturbed(self):
        self.since = None

    def run(self):
        while not self.stops.wait(0.5):
            try:
                self.sample()
            except Exception as error:  # the program's answer may be cut by a fault
                say(f"no sample: {error}")

    def sample(self):
        before = time.monotonic()
        status = self.program.status(seconds=15)
        waiting = self.ready() if self.ready else status and status["jobs"]["ready"]
        now = time.monotonic()
        if not status or status["paused"] or waiting is None:
            self.since = None
            return
        self.samples, self.last = self.samples + 1, status
        totals = status["totals"]
        ended = totals["done"] + totals["failed"] + totals["cancelled"]
        if ended > totals["enqueued"]:
            self.complaints.append(f"more jobs have ended than were accepted: {totals}")
        idles = waiting > 0 and self.room() > 0 and status["jobs"]["active"] <= self.room() / 2 and ended == self.ended
        self.ended = ended
        if not idles:
            self.since = None
        elif self.since is None:
            self.since = before
        else:
            self.longest = max(self.longest, now - self.since)
            if now - self.since > self.limit:
                self.complaints.append(f"{waiting} jobs have waited for {now - self.since:.1f} s although there is room: {status['jobs']}")
                self.since = None

    def stop(self):
        self.stops.set()
        self.thread.join(30)


def redis(node, *words):
    """The lines of an answer, with strange bytes escaped; None where there is no answer."""
    words = ["redis-cli", "-s", node.socket, "--no-raw", *map(str, words)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, errors="backslashreplace", timeout=10)
    except subprocess.TimeoutExpired:
        return None
    # The client says so on its output, and ends with 0.
    if done.returncode or done.stdout.startswith(("(error)", "Could not", "Error")):
        return None
    return done.stdout.splitlines()


def ready_of(node, queue="default"):
    """How many blocks wait that no worker has seen, in a namespace with one partition."""

    def look():
        script = "local n = 0 for _, p in ipairs({'high', 'normal', 'low'}) do n = n + redis.call('LLEN', ARGV[1] .. p) end return n"
        lines = redis(node, "EVAL", script, 0, "{gannet}q:" + queue + ":ready:")
        return int(lines[0].split()[-1]) if lines else None

    return look


def keys_of(node, pattern):
    """Names of keys, escaped as redis-cli shows them."""
    script = (
        "local at, found = '0', {} repeat local page = redis.call('SCAN', at, 'MATCH', ARGV[1], 'COUNT', 1000) at = page[1] "
        "for _, key in ipairs(page[2]) do found[#found + 1] = key end until at == '0' return found"
    )
    lines = redis(node, "EVAL", script, 0, pattern)
    return [] if not lines or lines == ["(empty array)"] else [line.partition(") ")[2].strip('"') for line in lines]
