"""Measures the cost of a job to a Redis Cluster, beside one server, and the cost of idle workers.

  cost.py GANNET [--jobs N] [--rounds N]

Prints tables for Benchmarks/RESULTS.md. Costs are the processor time of all servers, as they count it themselves. So other work on the machine
changes them little, and a cluster of four on two cores is no worse than on eight.
"""

import argparse
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

from servers import Cluster, Gannet, Node, Origin, end, say, until, urls_of

parser = argparse.ArgumentParser(description="The cost of jobs to a Redis Cluster, beside one Redis.")
parser.add_argument("gannet")
parser.add_argument("--jobs", type=int, default=200_000)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--hosts", type=int, default=400)
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
        return [node], f"redis://127.0.0.1:{node.port}"
    cluster = Cluster(folder, primaries, replicas=0)
    return cluster.nodes, cluster.url


def cost(primaries, partitions, round):
    """Microseconds of Redis' processor time, and commands, for each job."""
    place = folder / f"{primaries}-{partitions}-{round}"
    nodes, url = servers(place, primaries)
    program, workers = Gannet(options.gannet, url), []
    try:
        before = spent(nodes)
        program.run("enqueue", "-i", folder / "list", "--batch", "b", "--partitions", partitions)
        for number in range(4):
            words = ["work", "--allow-net", "all", "--cache-limit", "200MB", "--concurrency", "64", "--until-empty"]
            workers.append(program.start(open(place / f"worker{number}", "w"), *words))
        for worker in workers:
            if worker.wait() != 0:
                sys.exit(f"cluster: a worker ended with {worker.returncode}")
        after = spent(nodes)
        done = program.totals()["done"]
        if done != options.jobs:
            sys.exit(f"cluster: {done} jobs of {options.jobs} have ended")
    finally:
        end(*[node.process for node in nodes], *workers)
    return (after[0] - before[0]) / options.jobs * 1e6, (after[1] - before[1]) / options.jobs


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


folder = pathlib.Path(tempfile.mkdtemp(prefix="gannet-cost-"))
origin = Origin(folder)
try:
    (folder / "list").write_text("\n".join(urls_of(origin, options.jobs, options.hosts)) + "\n")
    kinds = [(1, 1), (1, 16), (4, 16)]
    found = {kind: [] for kind in kinds}
    for round in range(options.rounds):
        for kind in kinds:
            found[kind].append(cost(*kind, round))
            say(f"{kind[0]} primaries, {kind[1]} partitions: {found[kind][-1][0]:.1f} µs and {found[kind][-1][1]:.2f} commands a job")
    print(f"{options.jobs:,} jobs of {options.hosts} hosts, four workers with 64 places, bodies in Redis; medians of {options.rounds} rounds.\n")
    print("| primaries | partitions | Redis' processor time a job | commands a job | of one server's linear scale |")
    print("| --- | --- | --- | --- | --- |")
    one = statistics.median(seconds for seconds, _ in found[kinds[0]])
    for kind in kinds:
        seconds, calls = (statistics.median(values) for values in zip(*found[kind]))
        print(f"| {kind[0]} | {kind[1]} | {seconds:.1f} µs | {calls:.2f} | {one / seconds:.2f} |")
    print("\n| primaries | partitions | idle workers | calls a second | Redis' processor, all servers | without workers |")
    print("| --- | --- | --- | --- | --- | --- |")
    for primaries in (1, 4):
        calls, share, own = idle(primaries, 16, 10)
        print(f"| {primaries} | 16 | 10 | {calls:.0f} | {share:.2f} % of a core | {own:.2f} % |")
finally:
    end(origin.process)
    shutil.rmtree(folder)
