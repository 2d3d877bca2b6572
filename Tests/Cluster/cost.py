"""Measures the cost of a job to a Redis Cluster, beside one server, and the cost of idle workers.

  cost.py GANNET [--jobs N] [--rounds N]

Prints tables for Benchmarks/RESULTS.md. Costs are the processor time of all servers, as they count it themselves. So other work on the machine
changes them little, and a cluster of four on two cores is no worse than on eight.

A server that is asked less often gets smaller batches, and a job costs more. So the first table compares one server with four that have as
much to do each. The origin answers each worker 300 times a second there, and four workers have four times as many hosts. The second table
has the same work for all.
"""

import argparse
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "Servers"))
from base import end, say, until  # noqa: E402 (the line above says where it is)
from origin import Origin, urls_of  # noqa: E402
from program import Gannet  # noqa: E402
from redis_servers import Cluster, Node  # noqa: E402

parser = argparse.ArgumentParser(description="The cost of jobs to a Redis Cluster, beside one Redis.")
parser.add_argument("gannet")
parser.add_argument("--jobs", type=int, default=200_000)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--hosts", type=int, default=400)
parser.add_argument("--pace", type=int, default=300, help="jobs a second of each worker, where servers have as much to do each")
parser.add_argument("--seconds", type=int, default=30, help="for how long these workers have work")
parser.add_argument("--idle", type=int, default=30, help="seconds for which idle workers are watched")
options = parser.parse_args()


def spent(nodes):
    """Seconds of the processor, and commands, so far. Commands inside scripts count too."""
    seconds = calls = 0
    for node in nodes:
        cpu = node.info("INFO", "cpu")
        seconds += float(cpu["used_cpu_user"]) + float(cpu["used_cpu_sys"])
        for name, line in node.info("INFO", "commandstats").items():
            if name not in ("cmdstat_info", "cmdstat_cluster|info"):
                calls += int(line.split(",")[0].removeprefix("calls="))
    return seconds, calls


def servers(folder, primaries):
    folder.mkdir()
    if primaries == 1:
        node = Node(folder / "node", alone=True)
        return [node], node.url
    cluster = Cluster(folder, primaries, replicas=0)
    return cluster.nodes, cluster.url


def cost(primaries, partitions, round, origin, jobs, hosts, count=4):
    """Microseconds of Redis' processor time and commands for each job, and jobs a second."""
    place = folder / f"{primaries}-{partitions}-{count}-{jobs}-{round}"
    nodes, url = servers(place, primaries)
    program, workers = Gannet(options.gannet, url), []
    try:
        (place / "list").write_text("\n".join(urls_of(origin, jobs, hosts)) + "\n")
        before, start = spent(nodes), time.monotonic()
        program.run("enqueue", "-i", place / "list", "--batch", "b", "--partitions", partitions)
        for number in range(count):
            words = ["work", "--allow-net", "all", "--cache-limit", "200MB", "--concurrency", "64", "--until-empty"]
            words += ["--user-agent", f"{place.name}-{number}"]
            workers.append(program.start(open(place / f"worker{number}", "w"), *words))
        for worker in workers:
            if worker.wait() != 0:
                sys.exit(f"cluster: a worker ended with {worker.returncode}")
        after, took = spent(nodes), time.monotonic() - start
        done = program.totals()["done"]
        if done != jobs:
            sys.exit(f"cluster: {done} jobs of {jobs} have ended well")
    finally:
        end(*[node.process for node in nodes], *workers)
    return (after[0] - before[0]) / jobs * 1e6, (after[1] - before[1]) / jobs, jobs / took


def idle(primaries, partitions, count):
    """Calls a second, and the share of a core, of workers that have nothing to do."""
    place = folder / f"idle-{primaries}"
    nodes, url = servers(place, primaries)
    program, workers = Gannet(options.gannet, url), []
    try:
        # The workers end with this job before they are watched.
        program.run("enqueue", urls_of(origin, 1, 1)[0], "--batch", "b", "--partitions", partitions)
        time.sleep(1)
        bare = spent(nodes)
        time.sleep(options.idle)
        own = spent(nodes)
        for number in range(count):
            workers.append(program.start(open(place / f"worker{number}", "w"), "work", "--allow-net", "all", "--concurrency", "64"))
        until("the workers are there", lambda: len(program.run("workers", "list", check=False).stdout.splitlines()) > count)
        time.sleep(2)
        before, start = spent(nodes), time.monotonic()
        time.sleep(options.idle)
        after, took = spent(nodes), time.monotonic() - start
    finally:
        end(*[node.process for node in nodes], *workers)
    return (after[1] - before[1]) / took, (after[0] - before[0]) / took * 100, (own[0] - bare[0]) / options.idle * 100


def table(title, kinds, measure):
    """Measures all kinds by turns, and prints their medians beside those of the first."""
    found = {kind: [] for kind in kinds}
    for round in range(options.rounds):
        for kind in kinds:
            found[kind].append(measure(*kind, round))
            say("{} primaries, {} partitions: {:.1f} µs and {:.2f} commands a job, {:.0f} jobs/s".format(*kind, *found[kind][-1]))
    print(f"{title}; medians of {options.rounds} rounds.\n")
    print("| primaries | partitions | jobs a second | of these a server | commands a job | Redis' processor time a job | of linear |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    one = statistics.median(seconds for seconds, _, _ in found[kinds[0]])
    for kind in kinds:
        seconds, calls, rate = (statistics.median(values) for values in zip(*found[kind]))
        print(f"| {kind[0]} | {kind[1]} | {rate:.0f} | {rate / kind[0]:.0f} | {calls:.2f} | {seconds:.1f} µs | {one / seconds:.2f} |")
    print(flush=True)


folder = pathlib.Path(tempfile.mkdtemp(prefix="gannet-cost-"))
# nginx answers as a user without rights.
folder.chmod(0o755)
(folder / "paced").mkdir()
origin, paced = Origin(folder), Origin(folder / "paced", options.pace)
try:
    table(
        f"As much to do for each server: a worker with 64 places and {options.pace} jobs/s of 100 hosts for each, bodies in Redis",
        [(1, 1), (1, 4), (4, 4), (4, 16)],
        lambda primaries, partitions, round: cost(
            primaries, partitions, round, paced, options.pace * options.seconds * primaries, 100 * primaries, count=primaries),
    )  # fmt: skip
    table(
        f"The same work for all: {options.jobs:,} jobs of {options.hosts} hosts, four workers with 64 places, as fast as they go, bodies in Redis",
        [(1, 1), (1, 16), (4, 16)],
        lambda primaries, partitions, round: cost(primaries, partitions, round, origin, options.jobs, options.hosts),
    )
    print("| primaries | partitions | idle workers | calls a second | Redis' processor, all servers | without workers |")
    print("| --- | --- | --- | --- | --- | --- |")
    for primaries in (1, 4):
        calls, share, own = idle(primaries, 16, 10)
        print(f"| {primaries} | 16 | 10 | {calls:.0f} | {share:.2f} % of a core | {own:.2f} % |")
finally:
    end(origin.process, paced.process)
    shutil.rmtree(folder)
