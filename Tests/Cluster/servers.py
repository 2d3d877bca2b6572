"""Servers for the trial and for the measurement of a Redis Cluster: real ones, on ports of 127.0.0.1 that the kernel chose."""

import collections
import json
import os
import signal
import socket
import subprocess
import sys
import time

SLOTS = 16384
begun = time.monotonic()


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
    """A redis-server that is a part of a cluster, or stands alone."""

    def __init__(self, folder, alone=False):
        self.folder, self.port, self.bus, self.alone = folder, free_port(), free_port(), alone
        folder.mkdir()
        self.start()
        until("a node answers", lambda: self.call("PING") == "PONG")
        self.id = None if alone else self.call("CLUSTER", "MYID")

    def start(self):
        words = ["--cluster-port", str(self.bus), "--cluster-enabled", "yes", "--cluster-node-timeout", "2000"]
        words += ["--cluster-require-full-coverage", "no", "--cluster-replica-validity-factor", "0", "--cluster-allow-replica-migration", "no"]
        self.process = subprocess.Popen(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1"]
            + ([] if self.alone else words + ["--repl-diskless-sync-delay", "0", "--repl-backlog-size", "64mb"])
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
    def __init__(self, folder, primaries, replicas=1):
        self.nodes = [Node(folder / f"node{number}") for number in range((1 + replicas) * primaries)]
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
    """nginx at all of 127.0.0.0/8, so that there are as many hosts as wanted. With a pace, it answers each worker so many times a second.
    Each body is another one, and has so many kilobytes more."""

    def __init__(self, folder, pace=None, kilobytes=0):
        self.port, self.log = free_port(), folder / "access"
        body = f'set $more "{"x" * 1000}"; return 200 "body of $host$request_uri\\n{"$more" * kilobytes}";'
        text = f"""daemon off; pid {folder}/pid; error_log {folder}/errors; worker_processes 1;
            events {{ worker_connections 8192; }}
            http {{ log_format one '$host$request_uri'; access_log {self.log} one buffer=1m flush=1s; keepalive_requests 1000000;
              {self.paced(folder, pace, body) if pace else ""}
              server {{ listen 0.0.0.0:{self.port} backlog=4096; location / {{ {"limit_req zone=paced burst=1000; proxy_pass http://paced;" if pace else body} }} }} }}"""
        (folder / "nginx.conf").write_text(text)
        self.process = subprocess.Popen(["nginx", "-p", folder, "-e", folder / "errors", "-c", folder / "nginx.conf"], start_new_session=True)
        until("nginx listens", lambda: socket.socket().connect_ex(("127.0.0.1", self.port)) == 0)

    def paced(self, folder, pace, body):
        """nginx delays no answer of its own, so a second server of it gives the answers."""
        return f"""limit_req_zone $http_user_agent zone=paced:1m rate={pace}r/s;
            proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host;
            upstream paced {{ server unix:{folder}/inner; keepalive 64; }}
            server {{ listen unix:{folder}/inner; access_log off; location / {{ {body} }} }}"""

    def counts(self):
        time.sleep(1.5)  # nginx writes its log each second
        return collections.Counter(self.log.read_text().splitlines())


def urls_of(origin, jobs, hosts):
    """So many URLs at so many addresses of the origin."""
    return [f"http://127.{1 + number % hosts // 250}.{number % hosts % 250}.1:{origin.port}/{number}" for number in range(jobs)]


def end(*children):
    for child in children:
        try:
            os.killpg(child.pid, signal.SIGCONT)
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()


class Gannet:
    """The program with one address of Redis."""

    def __init__(self, path, url):
        self.path, self.url = path, url

    def run(self, *words, check=True):
        done = subprocess.run([self.path, *map(str, words), "--redis", self.url], capture_output=True, text=True)
        if check and done.returncode:
            sys.exit(f"cluster: gannet {' '.join(map(str, words))} ended with {done.returncode}: {done.stdout} {done.stderr}")
        return done

    def start(self, log, *words):
        return subprocess.Popen([self.path, *map(str, words), "--redis", self.url], stdout=log, stderr=log, start_new_session=True)

    def totals(self):
        done = self.run("status", "--json", check=False)
        return json.loads(done.stdout)["totals"] if done.returncode == 0 and done.stdout else None
