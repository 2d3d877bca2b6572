"""Jobs on a Redis Cluster that is not left alone.

  trial.py GANNET [--jobs N] [--partitions N] [--replicated] [--calm]

Four primaries with a replica each, four workers, and an nginx that notes each request. While the jobs run, the slots of four partitions
move to another primary and back. Each primary is killed, and comes back as its successor's replica. One is stopped for 30 seconds. At
the end a ledger compares what was accepted, what has ended, and what the origin was asked. With --calm nothing is disturbed.

Ends with 1 and a sentence when an accepted job is missing that had to be there, or when numbers do not agree.
"""

import argparse
import collections
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

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
SLOTS = 16384


def say(text):
    print(f"cluster: {time.monotonic() - begun:6.1f} s  {text}", file=sys.stderr, flush=True)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def until(what, look, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answer = look()
        if answer:
            return answer
        time.sleep(0.05)
    sys.exit(f"cluster: waited in vain for this: {what}")


class Node:
    """A redis-server that is a part of the cluster."""

    def __init__(self, folder):
        self.folder, self.port, self.bus = folder, free_port(), free_port()
        folder.mkdir()
        self.start()
        self.id = until("a node answers", lambda: self.call("CLUSTER", "MYID"))

    def start(self):
        self.process = subprocess.Popen(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--cluster-port", str(self.bus), "--cluster-enabled", "yes"]
            + ["--cluster-node-timeout", "2000", "--cluster-require-full-coverage", "no", "--cluster-replica-validity-factor", "0"]
            + ["--cluster-allow-replica-migration", "no", "--repl-diskless-sync-delay", "0", "--repl-backlog-size", "64mb"]
            + ["--unixsocket", str(self.folder / "s"), "--dir", str(self.folder), "--save", "", "--logfile", str(self.folder / "log")],
            start_new_session=True,
        )

    def call(self, *words, check=False):
        done = subprocess.run(["redis-cli", "-s", self.folder / "s", *map(str, words)], capture_output=True, text=True)
        answer = done.stdout.strip()
        if check and (done.returncode or answer.startswith(("ERR", "(error)"))):
            sys.exit(f"cluster: {' '.join(map(str, words))}: {answer} {done.stderr}")
        return answer

    def info(self, *words):
        return dict(line.split(":", 1) for line in self.call(*words).splitlines() if ":" in line)

    def is_primary(self):
        return self.info("INFO", "replication").get("role") == "master"


class Cluster:
    def __init__(self, folder, primaries):
        self.nodes = [Node(folder / f"node{number}") for number in range(2 * primaries)]
        first = self.nodes[:primaries]
        for number, node in enumerate(first):
            node.call("CLUSTER", "ADDSLOTSRANGE", number * SLOTS // primaries, (number + 1) * SLOTS // primaries - 1, check=True)
            node.call("CLUSTER", "SET-CONFIG-EPOCH", number + 1, check=True)
        for node in self.nodes[1:]:
            first[0].call("CLUSTER", "MEET", "127.0.0.1", node.port, node.bus, check=True)
        count = str(len(self.nodes))
        until("the nodes meet", lambda: all(node.info("CLUSTER", "INFO").get("cluster_known_nodes") == count for node in self.nodes))
        for number, node in enumerate(self.nodes[primaries:]):
            until("a replica", lambda: node.call("CLUSTER", "REPLICATE", first[number].id) == "OK")
        self.complete()

    @property
    def url(self):
        return "redis://" + ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)

    def primaries(self, away=()):
        return [node for node in self.nodes if node not in away and node.is_primary() and node.call("CLUSTER", "COUNTKEYSINSLOT", 0) != ""]

    def complete(self, away=()):
        """Each running node says that all slots are served, and each replica follows."""

        def look():
            for node in self.nodes:
                if node in away:
                    continue
                state = node.info("CLUSTER", "INFO")
                if state.get("cluster_state") != "ok" or state.get("cluster_slots_ok") != str(SLOTS):
                    return False
                replication = node.info("INFO", "replication")
                if replication.get("role") == "slave" and replication.get("master_link_status") != "up":
                    return False
            return True

        until("the cluster is complete", look)

    def owner(self, slot, away=()):
        for node in self.nodes:
            if node not in away:
                for line in node.call("CLUSTER", "NODES").splitlines():
                    words = line.split()
                    if "master" not in words[2] or "fail" in words[2]:
                        continue
                    for part in words[8:]:
                        if part.startswith("["):
                            continue
                        low, _, high = part.partition("-")
                        if int(low) <= slot <= int(high or low):
                            return next(node for node in self.nodes if node.id == words[0])
        return None

    def move(self, slot, source, target):
        """Moves a slot as redis-cli --cluster reshard does, with pauses so that others see it half done."""
        target.call("CLUSTER", "SETSLOT", slot, "IMPORTING", source.id, check=True)
        source.call("CLUSTER", "SETSLOT", slot, "MIGRATING", target.id, check=True)
        script = (
            "local k = redis.call('CLUSTER', 'GETKEYSINSLOT', ARGV[1], 50) if #k == 0 then return 0 end "
            "redis.call('MIGRATE', '127.0.0.1', ARGV[2], '', 0, 10000, 'KEYS', unpack(k)) return #k"
        )
        moved = 0
        while True:
            answer = source.call("EVAL", script, 0, slot, target.port)
            if not answer.isdigit():
                sys.exit(f"cluster: keys of slot {slot} cannot be moved: {answer}")
            moved += int(answer)
            if answer == "0":
                break
        target.call("CLUSTER", "SETSLOT", slot, "NODE", target.id, check=True)
        for node in self.nodes:
            if node is not target:
                node.call("CLUSTER", "SETSLOT", slot, "NODE", target.id)
        return moved


class Origin:
    """nginx at all of 127.0.0.0/8, so that there are as many hosts as wanted."""

    def __init__(self, folder):
        self.port, self.log = free_port(), folder / "access"
        text = f"""daemon off; pid {folder}/pid; error_log {folder}/errors; worker_processes 1;
            events {{ worker_connections 8192; }}
            http {{ log_format one '$host$request_uri'; access_log {self.log} one buffer=1m flush=1s; keepalive_requests 1000000;
              server {{ listen 0.0.0.0:{self.port} backlog=4096; location / {{ return 200 "body of $host$request_uri\\n"; }} }} }}"""
        (folder / "nginx.conf").write_text(text)
        self.process = subprocess.Popen(["nginx", "-p", folder, "-e", folder / "errors", "-c", folder / "nginx.conf"], start_new_session=True)
        until("nginx listens", lambda: socket.socket().connect_ex(("127.0.0.1", self.port)) == 0)

    def counts(self):
        time.sleep(1.5)  # nginx writes its log each second
        return collections.Counter(self.log.read_text().splitlines())


def gannet(*words, check=True):
    done = subprocess.run([options.gannet, *map(str, words), "--redis", cluster.url], capture_output=True, text=True)
    if check and done.returncode:
        sys.exit(f"cluster: gannet {' '.join(map(str, words))} ended with {done.returncode}: {done.stdout} {done.stderr}")
    return done


def counts():
    done = gannet("status", "--json", check=False)
    return json.loads(done.stdout)["totals"] if done.returncode == 0 and done.stdout else None


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


begun = time.monotonic()
workers = []
folder = pathlib.Path(tempfile.mkdtemp(prefix="gannet-cluster-"))
failures = []
try:
    cluster = Cluster(folder, options.primaries)
    origin = Origin(folder)
    urls = [f"http://127.{1 + number % options.hosts // 250}.{number % options.hosts % 250}.1:{origin.port}/{number}" for number in range(options.jobs)]
    (folder / "list").write_text("\n".join(urls) + "\n")
    say(f"{len(cluster.nodes)} nodes, {options.jobs} URLs of {options.hosts} hosts")

    def work(number):
        log = open(folder / f"worker{number}", "w")
        words = ["work", "--allow-net", "all", "--redis", cluster.url, "--cache-limit", "200MB", "--concurrency", "64", "--lease", "10s"]
        workers.append(subprocess.Popen([options.gannet, *words], stdout=log, stderr=log, start_new_session=True))

    words = ["--durability", "replicated"] if options.replicated else []
    enqueue = gannet("enqueue", "-i", folder / "list", "--batch", "b", "--partitions", options.partitions, *words)
    accepted = options.jobs
    say(enqueue.stdout.strip() or enqueue.stderr.strip())
    start = time.monotonic()
    for number in range(options.workers):
        work(number)
    if not options.calm:
        until("work has begun", lambda: (counts() or {}).get("done", 0) > 0)
        disturb()
    last, since = None, time.monotonic()
    while True:
        now = counts()
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
    final = counts()
    asked = origin.counts()
    names = {url.removeprefix("http://").replace(f":{origin.port}", "") for url in urls}
    missing = len(names - set(asked))
    repeats = sum(asked[name] - 1 for name in names if asked[name] > 1)
    lost = accepted - final["done"] - final["failed"] - final["cancelled"]
    table = {
        "accepted": accepted, "ended done": final["done"], "ended failed": final["failed"], "enqueued, as Redis says": final["enqueued"],
        "URLs that the origin was never asked for": missing, "requests more than one a URL": repeats, "crashes": final.get("crashed"),
        "double fetches": final.get("doubleFetches"), "seconds": round(took, 1), "jobs a second": round(accepted / took),
    }
    for name, value in table.items():
        print(f"{name:45} {value}")
    doctor = gannet("doctor", check=False)
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
    for child in [node.process for node in cluster.nodes] + [origin.process] + workers:
        try:
            os.killpg(child.pid, signal.SIGCONT)
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()
    if failures:
        print(f"cluster: the logs are in {folder}", file=sys.stderr)
    else:
        shutil.rmtree(folder)
for failure in failures:
    print(f"cluster: {failure}", file=sys.stderr)
sys.exit(1 if failures else 0)
