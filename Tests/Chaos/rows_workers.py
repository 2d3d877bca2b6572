"""Rows that break workers and what they stand on, but Redis."""

import signal
import time

import clock
import disk
import network
from rows import row


@row("worker-killed", "kill -9 of one of 8 workers, and of all 8 at once")
def worker_killed(trial):
    trial.lease = 2
    trial.node()
    trial.begin()
    trial.kills = True
    fleet = trial.fleet

    def one_killed(random):
        worker = random.choice(fleet.workers)
        fleet.kill([worker])

    def all_killed(random):
        fleet.kill(fleet.workers)

    trial.disturb([one_killed, one_killed, one_killed, all_killed])


@row("worker-paused", "a worker is stopped for two leases, and goes on")
def worker_paused(trial):
    trial.lease = 2
    trial.node()
    trial.begin()
    trial.kills = True  # a lease that ends is a crash

    def paused(random):
        workers = random.sample(trial.fleet.workers, random.choice([1, 1, 3]))
        for worker in workers:
            worker.is_paused = True
            worker.signal(signal.SIGSTOP)
        time.sleep(2 * trial.lease)
        for worker in workers:
            worker.signal(signal.SIGCONT)
            worker.is_paused = False
        return f"{len(workers)} workers"

    trial.disturb([paused], pause=3, least=2)


@row("scaling", "workers start and end without pause, and hand jobs back")
def scaling(trial):
    trial.node()
    trial.begin(worker_words=["--drain-timeout", "100ms"])

    def more(random):
        trial.fleet.wanted = min(16, trial.fleet.wanted + random.randint(1, 4))

    def fewer(random):
        count = random.randint(1, len(trial.fleet.workers) - 1)
        trial.fleet.wanted = max(2, trial.fleet.wanted - count)
        for worker in random.sample(trial.fleet.workers, count):
            worker.signal(random.choice([signal.SIGTERM, signal.SIGINT]))

    # A worker may be asked to end before it has begun to listen for that.
    trial.fleet.EXPECTED = trial.fleet.EXPECTED | trial.fleet.ENDS_AT_START
    trial.disturb([more, fewer, fewer], pause=0.4)


@row("network-cut", "a worker in a network of its own loses Redis but not the origin, and the other way round", missing=network.missing, seconds=12)
def network_cut(trial):
    trial.lease = 2
    there = network.Namespace()
    trial.end_later(there.end)
    redis_address = there.wire("r", 211)
    there.lead("o", f"10.213.{there.number}.0/24", there.wire("o", 212))
    trial.node("--bind", "127.0.0.1", redis_address, "--protected-mode", "no")
    trial.kills = True
    url = f"redis://{redis_address}:{trial.nodes[0].port}"
    urls = lambda: [  # noqa: E731
        f"http://10.213.{there.number}.{number % 40 + 1}:{trial.origin.port}/{kind}/{number}"
        for number, kind in enumerate(trial.random.choices(["s", "m", "l", "x"], [90, 8, 1, 1], k=trial.jobs))
    ]
    # A connection that is never made costs its URL a retry, and these cuts are many for so few URLs.
    words = ["--connect-timeout", "2s", "--timeout", "6s", "--retries", "20"]
    trial.begin(url=url, worker_words=words, urls=urls, each=lambda place: {"before": there.before} if place < 4 else {})

    def cut(name, seconds):
        there.cut(name, True)
        time.sleep(seconds)
        there.cut(name, False)
        return f"{seconds:.1f} s"

    def redis_cut(random):
        return cut("r", random.uniform(1, 3 * trial.lease))

    def origin_cut(random):
        return cut("o", random.uniform(1, 3 * trial.lease))

    trial.disturb([redis_cut, origin_cut], pause=2)


@row("clocks", "the clocks of Redis and of half of the workers jump an hour forward and back", missing=clock.missing)
def clocks(trial):
    of_redis, of_worker = clock.Clock(trial.folder, "redis"), clock.Clock(trial.folder, "worker")
    trial.node(environment=of_redis.environment)
    environment = {**trial.nodes[0].environment, **of_worker.environment}
    trial.begin(each=lambda place: {"environment": environment} if place < 4 else {})
    # To a clock an hour ahead, an outcome is no longer fresh. So a URL that is listed twice may be asked for twice.
    trial.asked_again = trial.accepts - len(set().union(*trial.producer.batches.values()))

    def redis_jumps(random):
        of_redis.set(random.choice([-3600, 0, 3600]))

    def workers_jump(random):
        of_worker.set(random.choice([-3600, 0, 3600]))

    trial.disturb([redis_jumps, workers_jump], pause=0.7)


@row("disk-bodies", "the folder of bodies fills up, and has room again", missing=disk.missing)
def disk_bodies(trial):
    small = disk.Small(trial.folder / "store", 200 + trial.jobs // 100)
    trial.end_later(small.end)
    trial.node()
    trial.store_words = ["--store", str(small.folder)]
    trial.begin()

    def filled(random):
        small.fill(left=random.choice([0, 4096, 100_000]))
        seconds = random.uniform(1, 3)
        until_ = time.monotonic() + seconds
        while time.monotonic() < until_:
            trial.tend()
            time.sleep(0.2)
        small.free()
        return f"{seconds:.1f} s"

    trial.disturb([filled], pause=2, least=2)


@row("runs", "`gannet run` is killed and started again; two runs have one list at the same time", uncounted="runs have queues of their own")
def runs(trial):
    """The manifest of each folder names each row once, and its bodies are right."""
    from runs import play

    return play(trial)
