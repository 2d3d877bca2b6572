"""Real servers of Redis, on ports of 127.0.0.1 that the kernel chose: one alone, with Sentinels, or a cluster."""

import os
import subprocess
import sys

from base import free_port, name, until

SLOTS = 16384


class Node:
    """A redis-server that is a part of a cluster, or stands alone."""

    def __init__(self, folder, alone=False, words=(), environment=None):
        self.folder, self.port, self.bus, self.alone = folder, free_port(), free_port(), alone
        self.words, self.environment = [*map(str, words)], {**os.environ, **(environment or {})}
        folder.mkdir(exist_ok=True)
        self.start()
        self.wait()
        self.id = None if alone else self.call("CLUSTER", "MYID")

    def start(self, *more):
        words = ["--cluster-port", str(self.bus), "--cluster-enabled", "yes", "--cluster-node-timeout", "2000"]
        words += ["--cluster-require-full-coverage", "no", "--cluster-replica-validity-factor", "0", "--cluster-allow-replica-migration", "no"]
        # A TCP address is bound by words, so that a row may add others.
        self.process = subprocess.Popen(
            ["redis-server", "--port", str(self.port)]
            + ([] if self.alone else words)
            + ["--repl-diskless-sync-delay", "0", "--repl-backlog-size", "64mb", "--unixsocket", str(self.socket), "--dir", str(self.folder)]
            + ["--save", "", "--logfile", str(self.folder / "log")]
            + ([] if "--bind" in self.words else ["--bind", "127.0.0.1"])
            + self.words
            + [*map(str, more)],
            start_new_session=True,
            env=self.environment,
        )

    @property
    def socket(self):
        return self.folder / "s"

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}"

    def wait(self, seconds=120):
        until("a redis-server answers", lambda: self.call("PING") == "PONG", seconds)

    def stop(self, hard):
        """Without a last word to its clients and its files, or in good order."""
        if hard:
            self.process.kill()
        else:
            self.call("SHUTDOWN", "NOSAVE")
        self.process.wait(30)

    def call(self, *words, check=False):
        words = ["redis-cli", "-s", self.socket, *map(str, words)]
        try:
            # A stopped server has no answer.
            done = subprocess.run(words, capture_output=True, text=True, errors="backslashreplace", timeout=None if check else 2)
        except subprocess.TimeoutExpired:
            return ""
        answer = done.stdout.strip()
        if check and (done.returncode or answer.startswith(("ERR", "(error)"))):
            sys.exit(f"{name}: {' '.join(map(str, words))}: {answer} {done.stderr}")
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
                sys.exit(f"{name}: keys of slot {slot} cannot be moved: {answer}")
            moved += int(answer)
            if answer == "0":
                break
        target.call("CLUSTER", "SETSLOT", slot, "NODE", target.id, check=True)
        for node in self.nodes:
            if node is not target:
                node.call("CLUSTER", "SETSLOT", slot, "NODE", target.id)
        return moved


class Sentinels:
    """A primary with replicas, and three Sentinels that name another primary when it is silent for 2.5 s. On a busy machine each is late at times."""

    NAME = "trial"

    def __init__(self, folder, replicas, words=()):
        self.nodes = [Node(folder / "node0", alone=True, words=words)]
        first = self.nodes[0]
        self.nodes += [Node(folder / f"node{number}", True, [*words, "--replicaof", f"127.0.0.1 {first.port}"]) for number in range(1, 1 + replicas)]
        self.complete(first)
        self.ports, self.processes = [], []
        for number in range(3):
            port, place = free_port(), folder / f"sentinel{number}"
            place.mkdir()
            (place / "conf").write_text(
                f"port {port}\nbind 127.0.0.1\ndir {place}\nlogfile {place}/log\nunixsocket {place}/s\n"
                f"sentinel monitor {self.NAME} 127.0.0.1 {first.port} 2\nsentinel down-after-milliseconds {self.NAME} 2500\n"
                f"sentinel failover-timeout {self.NAME} 4000\n"
            )
            self.processes.append(subprocess.Popen(["redis-server", place / "conf", "--sentinel"], stdout=subprocess.DEVNULL, start_new_session=True))
            self.ports.append(port)
        self.sentinel = folder / "sentinel0" / "s"
        until("the Sentinels know each other", lambda: "num-other-sentinels\n2\n" in self.ask("SENTINEL", "MASTER", self.NAME) + "\n")
        until("the Sentinels know the replicas", lambda: f"num-slaves\n{replicas}\n" in self.ask("SENTINEL", "MASTER", self.NAME) + "\n")

    def be_patient(self):
        """From now on a primary that is silent for a minute is no reason for another."""
        for port in self.ports:
            words = ["SENTINEL", "SET", self.NAME, "down-after-milliseconds", "60000"]
            subprocess.run(["redis-cli", "-p", str(port), *words], check=True, capture_output=True)

    def ask(self, *words):
        return subprocess.run(["redis-cli", "-s", self.sentinel, *words], capture_output=True, text=True).stdout

    @property
    def url(self):
        return "redis+sentinel://" + ",".join(f"127.0.0.1:{port}" for port in self.ports) + f"/{self.NAME}"

    def primary(self):
        """The node that all Sentinels name, once it knows it itself. The leader of a fail-over names it a second after the others."""
        words = ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", self.NAME]
        answers = [subprocess.run(["redis-cli", "-p", str(port), *words], capture_output=True, text=True).stdout.split() for port in self.ports]
        node = next((node for node in self.nodes if all(answer[1:] == [str(node.port)] for answer in answers)), None)
        return node if node and node.is_primary() else None

    def successor(self, old):
        """Waits until another node is the primary."""

        def look():
            node = self.primary()
            return node if node is not old else None

        return until("another primary", look)

    def ready(self):
        """The primary, once it has a replica in step and the Sentinels agree on it."""

        def look():
            node = self.primary()
            return node if node and "state=online" in node.call("INFO", "replication") else None

        return until("a primary with a replica", look)

    def complete(self, primary):
        """Each other node follows the primary."""

        def look():
            return all(node.info("INFO", "replication").get("master_link_status") == "up" for node in self.nodes if node is not primary)

        until("the replicas follow", look)
