"""Jobs on a Redis Cluster that is not left alone.

  trial.py GANNET [--jobs N] [--partitions N] [--replicated] [--calm]

Four primaries with a replica each, four workers, and an nginx that notes each request. Two fifths of the jobs are there at the beginning.
A producer adds the others, a batch of 5,000 at a time, until all is over. Meanwhile the slots of four partitions move to another primary
and back. Each primary is killed, and comes back as its successor's replica. One is stopped for 30 seconds. At the end a ledger compares
what was accepted, what has ended, and what the origin was asked. With --calm nothing is disturbed.

Ends with 1 and a sentence when an accepted job is missing that had to be there, or when numbers do not agree.
"""

import argparse
import json
import pathlib
import shutil
import signal
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "Servers"))
from base import end, say, until  # noqa: E402 (the line above says where it is)
from origin import Origin, urls_of  # noqa: E402
from program import Gannet  # noqa: E402
from redis_servers import Cluster  # noqa: E402

parser = argparse.ArgumentParser(description="Jobs on a Redis Cluster whose servers are killed, stopped and resharded.")
parser.add_argument("gannet")
parser.add_argument("--jobs", type=int, default=100_000)
parser.add_argument("--partitions", type=int, default=16)
parser.add_argument("--primaries", type=int, default=4)
parser.add_argument("--workers", type=int, default=4)
parser.add_argument("--hosts", type=int, default=400)
parser.add_argument("--replicated", action="store_true")
parser.add_argument("--calm", action="store_true")
parser.add_argument("--stop", type=int, default=30, help="seconds for which a primary is stopped")
options = parser.parse_args()


class Producer:
    """Accepts the list: a part at once, and the rest a batch at a time. A batch that fails is fed again, as its user would."""

    AT_ONCE = 5000

    def __init__(self, urls):
        self.urls, self.failures, self.sentences = urls, 0, set()
        self.hurries = threading.Event()
        first = len(urls) * 2 // 5
        self.enqueue("first", urls[:first])
        self.thread = threading.Thread(target=self.feed, args=(first,))

    def enqueue(self, name, urls):
        (folder / "part").write_text("\n".join(urls) + "\n")
        words = ["--durability", "replicated"] if options.replicated else []
        words = ["enqueue", "-i", folder / "part", "--batch", name, "--partitions", options.partitions, *words]
        for _ in range(100):
            done = program.run(*words, check=False)
            if done.returncode == 0:
                return
            self.failures += 1
            self.sentences.add(f"{done.returncode}: {done.stderr.strip().splitlines()[0]}")
            if done.returncode == 64:
                break
            time.sleep(0.5)
        failures.append(f"the batch {name} cannot be accepted: {self.sentences}")

    def feed(self, start):
        parts = range(start, len(self.urls), self.AT_ONCE)
        for number, at in enumerate(parts):
            self.enqueue(f"part-{number}", self.urls[at : at + self.AT_ONCE])
            # The disturbances take about this long.
            self.hurries.wait(120 / len(parts))


def partition_slots():
    """The slots that the namespace's partitions are in."""
    slots = []
    for node in cluster.primaries():
        for key in node.call("--no-raw", "KEYS", "{gannet*}state").splitlines():
            slots.append(int(node.call("CLUSTER", "KEYSLOT", key.split('"')[1])))
    return sorted(slots)


def disturb():
    slots = partition_slots()
    say(f"{len(slots)} partitions; slots of four of them move to another primary and back")
    homes = {}
    for slot in slots[:4]:
        source = cluster.owner(slot)
        target = next(node for node in cluster.primaries() if node is not source)
        homes[slot] = (source, target)
        moved = cluster.move(slot, source, target)
        say(f"slot {slot}: {moved} keys moved")
    for slot, (source, target) in homes.items():
        cluster.move(slot, target, source)
    cluster.complete()
    for node in cluster.primaries()[: options.primaries]:
        node.process.kill()
        node.process.wait()
        away = [node]
        cluster.complete(away)
        say(f"primary {node.port} was killed, and its replica has taken over")
        node.start()
        until("the node is back", lambda: node.call("PING") == "PONG")
        cluster.complete()
    node = cluster.primaries()[0]
    node.process.send_signal(signal.SIGSTOP)
    say(f"primary {node.port} is stopped for {options.stop} s")
    time.sleep(options.stop)
    node.process.send_signal(signal.SIGCONT)
    cluster.complete()
    say("all nodes are back")


workers = []
folder = pathlib.Path(tempfile.mkdtemp(prefix="gannet-cluster-"))
failures = []
try:
    cluster = Cluster(folder, options.primaries)
    origin = Origin(folder)
    program = Gannet(options.gannet, cluster.url)
    urls = urls_of(origin, options.jobs, options.hosts)
    say(f"{len(cluster.nodes)} nodes, {options.jobs} URLs of {options.hosts} hosts")
    producer = Producer(urls)
    start = time.monotonic()
    producer.thread.start()
    for number in range(options.workers):
        words = ["work", "--allow-net", "all", "--cache-limit", "200MB", "--concurrency", "64", "--lease", "10s"]
        workers.append(program.start(open(folder / f"worker{number}", "w"), *words))
    if not options.calm:
        until("work has begun", lambda: (program.totals() or {}).get("done", 0) > 0)
        disturb()
    producer.hurries.set()
    producer.thread.join()
    say("the producer has ended")
    accepted = options.jobs
    last, since = None, time.monotonic()
    while True:
        now = program.totals()
        if now:
            open_jobs = now["enqueued"] - now["done"] - now["failed"] - now["cancelled"]
            if open_jobs <= 0:
                break
            if last != now["done"]:
                last, since = now["done"], time.monotonic()
            if time.monotonic() - since > 120:
                failures.append(f"{open_jobs} jobs do not end: {json.dumps(now)[:600]}")
                break
        time.sleep(0.5)
    took = time.monotonic() - start
    for worker in workers:
        if worker.poll() is not None:
            failures.append(f"a worker ended with {worker.returncode}")
        else:
            worker.send_signal(signal.SIGTERM)
    for worker in workers:
        worker.wait(60)
    final = program.totals()
    asked, _ = origin.requests()
    names = {url.removeprefix("http://").replace(f":{origin.port}", "") for url in urls}
    missing = len(names - set(asked))
    repeats = sum(asked[name] - 1 for name in names if asked[name] > 1)
    lost = accepted - final["done"] - final["failed"] - final["cancelled"]
    table = {
        "accepted": accepted, "calls of the producer that were made again": producer.failures, "ended done": final["done"], "ended failed": final["failed"], "enqueued, as Redis says": final["enqueued"],
        "URLs that the origin was never asked for": missing, "requests more than one a URL": repeats, "crashes": final.get("crashed"),
        "double fetches": final.get("doubleFetches"), "seconds": round(took, 1), "jobs a second": round(accepted / took),
    }
    for name, value in table.items():
        print(f"{name:45} {value}")
    for sentence in sorted(producer.sentences):
        print(f"the producer was told {sentence}")
    doctor = program.run("doctor", check=False)
    print(doctor.stdout.strip())
    if options.calm or options.replicated:
        if lost or missing or final["failed"]:
            failures.append(f"{lost} jobs are lost, {missing} URLs were not fetched, {final['failed']} failed")
    if options.calm and repeats:
        failures.append(f"{repeats} requests were repeated although nothing was disturbed")
    for number, worker in enumerate(workers):
        text = (folder / f"worker{number}").read_text().strip().splitlines()
        print(f"worker {number}: " + " | ".join(text[-3:]))
finally:
    end(*[node.process for node in cluster.nodes], origin.process, *workers)
    if failures:
        print(f"cluster: the logs are in {folder}", file=sys.stderr)
    else:
        shutil.rmtree(folder)
for failure in failures:
    print(f"cluster: {failure}", file=sys.stderr)
sys.exit(1 if failures else 0)
