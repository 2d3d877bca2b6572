"""The processes that a row breaks: workers that a supervisor starts again, and a producer whose failed calls are made again."""

import json
import os
import signal
import threading
import time

from base import end, say


class Worker:
    def __init__(self, fleet, number, process, log):
        self.fleet, self.number, self.process, self.log = fleet, number, process, log
        self.is_paused = False

    def signal(self, number):
        if self.process.poll() is None:
            self.process.send_signal(number)

    def has_begun(self):
        return self.log.stat().st_size > 0

    def files(self):
        """How many descriptors it has: those of connections, and all others."""
        folder = f"/proc/{self.process.pid}/fd"
        links = []
        for name in os.listdir(folder):
            try:
                links.append(os.readlink(f"{folder}/{name}"))
            except OSError:
                pass
        sockets = sum(link.startswith("socket:") for link in links)
        return sockets, len(links) - sockets

    def megabytes(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:")) >> 10


class Fleet:
    """So many workers. When a worker has ended, another is started in its place, as a supervisor would do."""

    # Ends by a signal of the row; Redis is away; a folder is full; a drain that handed jobs back.
    EXPECTED = {0, -signal.SIGKILL, 69, 74, 143}
    ENDS_AT_START = {130, 143, -signal.SIGTERM, -signal.SIGINT}

    def __init__(self, program, folder, count, places, lease, words=(), each=lambda number: {}):
        self.program, self.folder, self.places, self.lease = program, folder, places, lease
        self.words, self.each, self.wanted = words, each, count
        self.workers, self.begun, self.exits, self.surprises = [], 0, {}, []
        for _ in range(count):
            self.start()

    def start(self):
        number = self.begun
        self.begun += 1
        log = self.folder / f"worker{number}"
        words = ["work", "--allow-net", "all", "--cache-limit", "500MB", "--concurrency", self.places, "--lease", f"{self.lease}s"]
        words += ["--verbose", "--log-format", "json", *self.words]
        # Special options go by the place in the fleet, so that a successor has them too.
        taken = {worker.number for worker in self.workers}
        place = next(place for place in range(self.begun + 1) if place not in taken)
        with log.open("w") as output:
            process = self.program.start(output, *words, **self.each(place))
        self.workers.append(Worker(self, place, process, log))

    def alive(self):
        return [worker for worker in self.workers if worker.process.poll() is None and not worker.is_paused]

    def room(self):
        return self.places * len(self.alive())

    def kill(self, workers):
        for worker in workers:
            worker.signal(signal.SIGKILL)
        for worker in workers:
            worker.process.wait()

    def tend(self):
        """Notes which workers have ended, and starts others in their places."""
        for worker in list(self.workers):
            status = worker.process.poll()
            if status is None:
                continue
            self.workers.remove(worker)
            self.exits[status] = self.exits.get(status, 0) + 1
            if status not in self.EXPECTED:
                self.surprises.append(f"a worker ended with {status}: {worker.log}")
        while len(self.workers) < self.wanted:
            self.start()

    def stop(self, seconds=40):
        """All end in good order; answers what did not."""
        self.wanted = 0
        complaints = []
        for worker in self.workers:
            worker.signal(signal.SIGCONT)
            worker.signal(signal.SIGTERM)
        for worker in self.workers:
            try:
                status = worker.process.wait(seconds)
                # A worker that has not begun yet ends as its signal says.
                if status != 0 and (worker.has_begun() or status not in self.ENDS_AT_START):
                    complaints.append(f"an idle worker ended with {status}: {worker.log}")
            except Exception:
                complaints.append(f"an idle worker did not end within {seconds} s: {worker.log}")
                end(worker.process)
        return complaints

    def events(self):
        """How often each kind of event stands in the logs of all workers so far, and jobs that were handed back."""
        found = {}
        for log in self.folder.glob("worker*"):
            with log.open(errors="replace") as lines:
                for line in lines:
                    _, _, rest = line.partition('"event":"')
                    kind = rest.partition('"')[0]
                    if kind:
                        found[kind] = found.get(kind, 0) + 1
        return found


class Producer:
    """Adds batch after batch until `hurry`, two fifths of all at once. A call that fails is made again, as its user would."""

    def __init__(self, program, folder, batches, seconds, words=()):
        self.program, self.folder, self.batches, self.seconds, self.words = program, folder, batches, seconds, words
        self.accepted, self.repeats, self.sentences, self.complaints = {}, 0, set(), []
        self.hurries, self.stops = threading.Event(), threading.Event()
        for name, urls in batches.items():
            (folder / name).write_text("\n".join(urls) + "\n")
        self.names = list(batches)
        self.first = max(1, len(self.names) * 2 // 5)
        for name in self.names[: self.first]:
            self.enqueue(name)
        self.thread = threading.Thread(target=self.feed, daemon=True)
        self.thread.start()

    def enqueue(self, name, again=False):
        """Answers how many URLs the call has accepted, or None."""
        deadline = time.monotonic() + max(150, 10 * self.seconds)
        while time.monotonic() < deadline and not self.stops.is_set():
            done = self.program.run("enqueue", "-i", self.folder / name, "--batch", name, "--json", *self.words, check=False, seconds=120)
            if done.returncode == 0:
                if not again:
                    self.accepted[name] = self.batches[name]
                    say(f"the batch {name} is accepted")
                return json.loads(done.stdout)["accepted"]
            self.repeats += 1
            self.sentences.add(f"{done.returncode}: {(done.stderr.strip() or 'nothing').splitlines()[0][:200]}")
            if done.returncode in (64, 70):
                break
            self.stops.wait(0.2)
        self.complaints.append(f"the batch {name} is not accepted: {sorted(self.sentences)[-3:]}")

    def feed(self):
        rest = self.names[self.first :]
        for name in rest:
            self.hurries.wait(self.seconds / len(rest))
            if self.stops.is_set():
                return
            self.enqueue(name)

    def finish(self):
        self.hurries.set()
        self.thread.join(300)
        if self.thread.is_alive():
            self.complaints.append("the producer does not end")
        if self.repeats:
            say(f"the producer made {self.repeats} calls again: {sorted(self.sentences)}")
