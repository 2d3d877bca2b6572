"""One row: its servers, its load, its faults and its ledger."""

import random
import shutil
import time

from base import end, say
from fleet import Fleet, Producer
from ledger import Ledger
from origin import Origin
from plan import Plan
from program import Gannet
from redis_servers import Node
from watch import Watch, ready_of

# Jobs a second that a small trial is paced to, so that there is load while faults happen; and a large one.
PACE, FAST, LARGE = 200, 1500, 20_000


class Trial:
    def __init__(self, row, gannet, folder, seed, jobs, seconds, plant=None):
        self.row, self.gannet, self.folder, self.seed, self.plant = row, gannet, folder, seed, plant
        self.random = random.Random(f"{row.name}/{seed}")
        self.jobs = jobs or max(1000, int(PACE * (seconds or row.seconds)))
        self.pace = FAST if self.jobs > LARGE else PACE
        self.seconds = max(seconds or 0, self.jobs / self.pace)
        if seconds:
            self.pace = max(1, int(self.jobs / self.seconds))
        # Long enough for a worker that comes back late after an outage on a busy machine. Rows that end leases have a shorter one.
        self.places, self.lease = 16, 10
        self.kills, self.faults, self.asked_again = False, 0, 0
        self.store_words = []
        self.cleanups = []
        self.nodes, self.fleet, self.origin, self.producer, self.watch = [], None, None, None, None
        self.url = None

    def end_later(self, call):
        """Calls are made at the end of the trial, the last one first."""
        self.cleanups.append(call)

    def node(self, *words, name="redis", environment=None):
        """A Redis of its own. Without words it keeps nothing on disk."""
        node = Node(self.folder / name, True, words, environment)
        self.nodes.append(node)
        self.end_later(lambda: end(node.process))
        self.url = node.url
        return node

    def primaries(self):
        return self.nodes[:1]

    def urls(self, hosts=40, prefix="127.1"):
        """Most bodies are a line, some 10 KB, a few 250 KB; one URL in a hundred has none. Some URLs stand in two batches."""
        kinds = self.random.choices(["s", "m", "l", "x"], [100 - 11, 8, 2 if self.jobs <= LARGE else 0.1, 1], k=self.jobs)
        urls = [f"http://{prefix}.{number % hosts}.1:{self.origin.port}/{kind}/{number}" for number, kind in enumerate(kinds)]
        for _ in range(self.jobs // 20):
            urls[self.random.randrange(self.jobs)] = urls[self.random.randrange(self.jobs)]
        return urls

    def begin(self, workers=8, worker_words=(), each=lambda number: {}, producer_words=(), url=None, worker_url=None, urls=None):
        """Starts the origin, the producer, the workers and the watch, on the Redis that the row has started."""
        place = self.folder / "origin"
        place.mkdir()
        self.origin = Origin(place, self.pace, by="$server_port")
        self.end_later(lambda: end(self.origin.process))
        self.program = Gannet(self.gannet, url or self.url)
        urls = (urls or self.urls)()
        size = max(20, min(20_000, len(urls) // 6))
        batches = {f"b{at // size}": list(dict.fromkeys(urls[at : at + size])) for at in range(0, len(urls), size)}
        self.accepts = sum(map(len, batches.values()))
        place = self.folder / "lists"
        place.mkdir()
        at = Gannet(self.gannet, worker_url or url or self.url)
        self.producer = Producer(at, place, batches, self.seconds * 0.8, producer_words)
        self.end_later(self.producer.stops.set)
        place = self.folder / "workers"
        place.mkdir()
        self.fleet = Fleet(at, place, workers, self.places, self.lease, [*worker_words, *self.store_words], each)
        self.end_later(lambda: end(*[worker.process for worker in self.fleet.workers]))
        alone = len(self.nodes) == 1
        self.watch = Watch(self.program, self.lease, lambda: self.fleet.room(), ready_of(self.nodes[0]) if alone else None)
        self.end_later(self.watch.stop)

    def tend(self):
        self.fleet.tend()
        self.try_plant()

    def try_plant(self):
        if self.plant and not self.plant.is_done:
            self.plant.try_it(self)

    def disturb(self, kinds, pause=1.0, least=None):
        """Faults by a seeded plan for the load's time, and longer while a slow machine still has load."""

        def wrapped(kind):
            def fault(generator):
                self.watch.disturbed()
                told = kind(generator)
                self.watch.disturbed()
                return told

            fault.__name__ = kind.__name__
            return fault

        plan = Plan(self.random.getrandbits(64), [wrapped(kind) for kind in kinds], pause)
        begun = time.monotonic()

        def goes_on():
            took = time.monotonic() - begun
            return took < self.seconds or took < 8 * self.seconds and self.has_load()

        self.faults += plan.run(least or len(kinds), goes_on, self.tend)

    def has_load(self):
        """Whether jobs are still to come, or a tenth of all has not ended, as the watch saw it last."""
        if self.producer.thread.is_alive():
            return True
        totals = self.watch.last and self.watch.last["totals"]
        return bool(totals) and totals["enqueued"] - totals["done"] - totals["failed"] - totals["cancelled"] > self.accepts / 10

    def conclude(self):
        """After the last fault: everything runs, all jobs end, and the ledger is checked."""
        begun = time.monotonic()
        self.watch.disturbed()
        self.fleet.tend()
        self.producer.finish()
        ledger = Ledger(self)
        # A planted loss is found as well by less patience.
        ledger.settle(patience=15 if self.plant else 60)
        if self.row.loses:
            ledger.count_loss()
            ledger.settle(patience=60)
        while self.plant and not self.plant.is_done and time.monotonic() - begun < 10:
            self.plant.try_it(self)
        self.watch.stop()
        ledger.wrong += self.producer.complaints + self.watch.complaints
        ledger.ends_once()
        ledger.bodies()
        ledger.none_dead()
        ledger.workers_have_not_grown()
        ledger.nothing_leaks()
        ledger.requests()
        ledger.wrong += self.fleet.surprises
        say(f"workers ended: {self.fleet.exits}; events: {self.fleet.events()}; longest wait with room: {self.watch.longest:.1f} s")
        return ledger

    def run(self):
        begun = time.monotonic()
        ended = False
        try:
            ledger = self.row.play(self) or self.conclude()
            ended = True
        finally:
            for call in reversed(self.cleanups):
                try:
                    call()
                except Exception as error:
                    say(f"while ending: {error}")
                    if ended:
                        raise
        totals = ledger.facts.get("totals", {})
        result = {
            "row": self.row.name, "seed": self.seed, "faults": self.faults, "jobs": ledger.facts.get("accepted", 0),
            "requests": ledger.facts.get("requests", 0), "repeats": ledger.facts.get("repeats", 0), "double": totals.get("doubleFetches", 0),
            "crashes": totals.get("crashed", 0), "retries": totals.get("retried", 0), "handed": ledger.facts.get("handed", 0),
            "lost": ledger.facts.get("lost", 0), "poison": ledger.facts.get("poison", 0), "seconds": round(time.monotonic() - begun), "wrong": ledger.wrong,
        }  # fmt: skip
        if not ledger.wrong:
            for place in ["export", "workers", "lists", "origin"]:
                shutil.rmtree(self.folder / place, ignore_errors=True)
        return result
