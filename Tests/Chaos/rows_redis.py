"""Rows that break Redis, and the way to it."""

import signal
import subprocess
import time

import disk
from base import end, until
from proxy import Proxy
from redis_servers import Cluster, Sentinels
from rows import row


def restarts(trial, *policy, hard, soft=True):
    node = trial.node("--appendonly", "yes", "--appendfsync", *policy)
    trial.begin()

    def started_again(is_hard):
        def fault(random):
            node.stop(is_hard)
            time.sleep(random.uniform(0, 1))
            node.start()
            node.wait()

        fault.__name__ = "killed and started" if is_hard else "shut down and started"
        return fault

    trial.disturb([started_again(True)] * hard + [started_again(False)] * soft, pause=1.5, least=4)


@row("redis-restarted", "SHUTDOWN or kill -9, and a start with an append-only file, `appendfsync always`")
def redis_restarted(trial):
    restarts(trial, "always", hard=1)


@row("redis-restarted-everysec", "the same with `appendfsync everysec`, which a crash of Redis alone costs nothing")
def redis_restarted_everysec(trial):
    restarts(trial, "everysec", hard=1)


@row("redis-torn", "the end of the append-only file is missing when Redis starts", loses=True)
def redis_torn(trial):
    node = trial.node("--appendonly", "yes", "--appendfsync", "everysec")
    trial.begin()

    def torn(random):
        node.stop(hard=True)
        file = max((node.folder / "appendonlydir").glob("*.incr.aof"), key=lambda file: file.stat().st_mtime)
        size = file.stat().st_size
        cut = min(size, random.choice([random.randint(1, 300), random.randint(1, 20_000), random.randint(1, 200_000)]))
        with file.open("r+b") as opened:
            opened.truncate(size - cut)
        node.start()
        node.wait()
        # Redis keeps the half of a transaction in the file, and would carry it out at the next start.
        node.call("BGREWRITEAOF")
        until("the file is written anew", lambda: node.info("INFO", "persistence").get("aof_rewrite_in_progress") == "0")
        return f"{cut} bytes of {size}"

    trial.disturb([torn], pause=2.5, least=2)


@row("redis-stuck", "CLIENT PAUSE; all connections killed every 50 ms; SCRIPT FLUSH every 50 ms; SIGSTOP of Redis")
def redis_stuck(trial):
    node = trial.node()
    trial.begin()

    def every_50_ms(*words):
        subprocess.run(["redis-cli", "-s", node.socket, "-r", "30", "-i", "0.05", *words], capture_output=True, timeout=60)

    def clients_paused(random):
        milliseconds = random.randint(200, 3000)
        node.call("CLIENT", "PAUSE", milliseconds, "ALL")
        time.sleep(milliseconds / 1000)
        return f"{milliseconds} ms"

    def connections_killed(random):
        every_50_ms("CLIENT", "KILL", "SKIPME", "yes")

    def scripts_flushed(random):
        every_50_ms("SCRIPT", "FLUSH", "SYNC")

    def redis_stopped(random):
        node.process.send_signal(signal.SIGSTOP)
        time.sleep(seconds := random.uniform(0.5, 6))
        node.process.send_signal(signal.SIGCONT)
        return f"{seconds:.1f} s"

    trial.disturb([clients_paused, connections_killed, scripts_flushed, redis_stopped])


@row("redis-proxy", "a proxy before Redis delays, falls silent, and cuts at random bytes both ways", seconds=8)
def redis_proxy(trial):
    node = trial.node()
    proxy = Proxy(node.port, trial.random)
    trial.lease = 2
    trial.kills = True  # a worker whose connections are cut for longer than its lease loses it, while others go on
    trial.begin(worker_url=proxy.url)

    def during(random, mode, low, high, **options):
        proxy.set(mode, **options)
        time.sleep(seconds := random.uniform(low, high))
        proxy.set("pass")
        return f"{seconds:.1f} s {options or ''}, {proxy.cuts} cuts so far"

    def delayed(random):
        return during(random, "delay", 1, 3, delay=random.choice([0.005, 0.05, 0.3]))

    def silent(random):
        return during(random, "silent", 0.5, 2.5 * trial.lease)

    def silent_and_cut(random):
        told = during(random, "silent", 0.5, 2.5 * trial.lease)
        proxy.cut_all()
        return told

    def cut(random):
        return during(random, "cut", 1, 3, every=random.choice([300, 3000, 30_000]))

    trial.disturb([delayed, silent, silent_and_cut, cut, cut], pause=0.7)


@row("redis-full", "maxmemory is reached with noeviction, and there is room again", evicts=True)
def redis_full(trial):
    node = trial.node()
    trial.begin()

    def full(random):
        used = int(node.info("INFO", "memory")["used_memory"])
        node.call("CONFIG", "SET", "maxmemory", max(1, used - random.choice([0, 100_000, 500_000])), check=True)
        time.sleep(seconds := random.uniform(0.5, 3))
        node.call("CONFIG", "SET", "maxmemory", 0, check=True)
        return f"{seconds:.1f} s"

    trial.disturb([full], pause=1.5, least=3)


def fail_over(trial, kinds, words=(), seconds=2):
    # Workers find another primary at different times, up to ten seconds apart on a busy machine. None of them shall lose its lease by that.
    trial.lease = 15
    sentinels = Sentinels(trial.folder, replicas=2)
    trial.end_later(lambda: end(*sentinels.processes, *[node.process for node in sentinels.nodes]))
    trial.nodes, trial.url = sentinels.nodes, sentinels.url
    trial.primaries = lambda: [until("a primary", sentinels.primary)]
    trial.begin(producer_words=words)

    def primary_killed(random):
        old = sentinels.ready()
        old.stop(hard=True)
        new = sentinels.successor(old)
        # It comes back as a replica, or as a primary that the Sentinels correct.
        old.start(*(["--replicaof", f"127.0.0.1 {new.port}"] if random.random() < 0.7 else []))
        old.wait()

    def primary_stopped(random):
        old = sentinels.ready()
        old.process.send_signal(signal.SIGSTOP)
        sentinels.successor(old)
        time.sleep(random.uniform(0, 1))
        old.process.send_signal(signal.SIGCONT)

    def another_primary_named(random):
        """The old one still takes writes until the Sentinels turn it into a replica."""
        old = sentinels.ready()

        def named():
            primary = sentinels.primary()
            if not primary or primary is old:
                # Sentinels refuse this while a fail-over is under way. They give a fail-over up whose replica is late.
                sentinels.ask("SENTINEL", "FAILOVER", sentinels.NAME)
            return primary is not old and primary

        until("another primary", named)

    all_kinds = {"killed": primary_killed, "stopped": primary_stopped, "named": another_primary_named}
    trial.disturb([all_kinds[kind] for kind in kinds], pause=seconds, least=len(kinds))
    primary = sentinels.ready()
    # No other primary is named while the ledger is compared, however late this one is.
    sentinels.be_patient()
    sentinels.complete(primary)


@row("failover", "the primary is killed or stopped under load, and a replica takes its place", loses=True, seconds=10)
def failover(trial):
    fail_over(trial, ["killed", "stopped"])


@row("failover-replicated", "the same with `enqueue --durability replicated`: no accepted job is lost", loses=True, keeps_accepted=True, seconds=10)
def failover_replicated(trial):
    fail_over(trial, ["killed", "stopped"], ["--durability", "replicated"])


@row("old-primary", "another primary is named, while the old one lives and still takes writes", loses=True, seconds=8)
def old_primary(trial):
    fail_over(trial, ["named", "named"])


@row("disk-redis", "the disk of Redis fills up, and has room again", missing=disk.missing)
def disk_redis(trial):
    small = disk.Small(trial.folder / "redis", 64 + trial.jobs // 100)
    trial.end_later(small.end)
    node = trial.node("--appendonly", "yes", "--appendfsync", "everysec", "--auto-aof-rewrite-percentage", "0")
    trial.begin()

    def filled(random):
        small.fill(left=random.choice([0, 4096, 65536]))
        time.sleep(seconds := random.uniform(1, 4))
        small.free()
        until("Redis writes again", lambda: node.info("INFO", "persistence").get("aof_last_write_status") == "ok", 30)
        return f"{seconds:.1f} s"

    trial.disturb([filled], pause=2, least=2)


def unflushed(trial, policy):
    forgetful = disk.Forgetful(trial.folder / "redis", 256 + trial.jobs // 100)
    trial.end_later(forgetful.end)
    node = trial.node("--appendonly", "yes", "--appendfsync", policy, "--auto-aof-rewrite-percentage", "0")
    trial.begin()

    def power_cut(random):
        # The server is stopped for the copy, and says nothing more to anybody.
        node.process.send_signal(signal.SIGSTOP)
        forgetful.copy()
        node.process.kill()
        node.process.wait()
        forgetful.forget()
        node.start()
        node.wait()

    # Each cut copies the whole file system.
    trial.disturb([power_cut], pause=max(2, trial.seconds / 4), least=2)


@row("disk-unflushed", "Redis' disk forgets what was not flushed, with `appendfsync always`", missing=disk.missing_loop)
def disk_unflushed(trial):
    unflushed(trial, "always")


@row("disk-unflushed-everysec", "the same with `everysec`, which may lose the last second", missing=disk.missing_loop, loses=True)
def disk_unflushed_everysec(trial):
    unflushed(trial, "everysec")


@row("slots-moved", "slots of a Redis Cluster move to another primary and back, and workers start and end", seconds=10)
def slots_moved(trial):
    place = trial.folder / "cluster"
    place.mkdir()
    cluster = Cluster(place, 3, replicas=0)
    trial.end_later(lambda: end(*[node.process for node in cluster.nodes]))
    trial.nodes, trial.url = cluster.nodes, cluster.url
    trial.primaries = lambda: cluster.nodes
    trial.begin(workers=6)

    def slot_moved(random):
        slots = sorted(
            int(node.call("CLUSTER", "KEYSLOT", key.split('"')[1]))
            for node in cluster.nodes
            for key in node.call("--no-raw", "KEYS", "{gannet*}state").splitlines()
            if '"' in key
        )
        slot = random.choice(slots)
        source = cluster.owner(slot)
        target = random.choice([node for node in cluster.nodes if node is not source])
        return f"slot {slot}, {cluster.move(slot, source, target)} keys"

    def worker_ended(random):
        random.choice(trial.fleet.workers).signal(signal.SIGTERM)

    trial.disturb([slot_moved, slot_moved, worker_ended], pause=0.7)
