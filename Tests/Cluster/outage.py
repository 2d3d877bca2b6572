"""Measures a worker while one node of a Redis Cluster is away and bodies are kept in Redis.

  outage.py GANNET [--jobs N]

Three primaries without replicas, 16 partitions, one worker with 64 places. A node that has not partition 0 is killed under load. The
table says how fast the worker goes on with the other partitions, and with how many jobs and how much memory it stands still.
"""

import argparse
import pathlib
import re
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "Servers"))
from base import end, until  # noqa: E402 (the line above says where it is)
from origin import Origin, body_of, urls_of  # noqa: E402
from program import Gannet  # noqa: E402
from redis_servers import Cluster  # noqa: E402

parser = argparse.ArgumentParser(description="A worker while a node of a Redis Cluster is away.")
parser.add_argument("gannet")
parser.add_argument("--jobs", type=int, default=60_000)
parser.add_argument("--pace", type=int, default=400, help="jobs a second of the worker")
parser.add_argument("--kinds", nargs="+", default=["s", "m", "l"], help="first letters of paths, by which the origin chooses a size")
options = parser.parse_args()


def memory(process):
    """Megabytes of a process that are in memory."""
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1]) / 1000


def outage(kind):
    place = folder / kind
    place.mkdir()
    place.chmod(0o755)
    origin = Origin(place, options.pace)
    urls = [url.replace(f":{origin.port}/", f":{origin.port}/{kind}/") for url in urls_of(origin, options.jobs, 400)]
    (place / "servers").mkdir()
    cluster = Cluster(place / "servers", 3, replicas=0)
    program, log, worker = Gannet(options.gannet, cluster.url), place / "worker", None
    try:
        (place / "list").write_text("\n".join(urls) + "\n")
        program.run("enqueue", "-i", place / "list", "--batch", "b", "--partitions", 16)
        worker = program.start(open(log, "w"), "work", "--allow-net", "all", "--concurrency", "64", "--cache-limit", "8GB")
        until("the worker is at work", lambda: origin.answered() > 5 * options.pace)
        before, home = memory(worker), cluster.owner(int(cluster.nodes[0].call("CLUSTER", "KEYSLOT", "{gannet}")))
        away = next(node for node in cluster.nodes if node is not home)
        end(away.process)
        start, fetched = time.monotonic(), origin.answered()
        until("the worker stands still", lambda: "takes no more jobs" in log.read_text(), 600)
        took, requests, after = time.monotonic() - start, origin.answered() - fetched, memory(worker)
        jobs = int(re.search(r"bodies of its ([\d,]+) jobs", log.read_text())[1].replace(",", ""))
        if worker.poll() is not None:
            sys.exit("outage: the worker has ended")
        size = body_of(urls[0])[0]
        return f"{size:,} bytes | {requests / took:.0f} | {took:.0f} s | {jobs:,} | {before:.0f} | {after:.0f}"
    finally:
        end(*[node.process for node in cluster.nodes], origin.process, *([worker] if worker else []))


folder = pathlib.Path(tempfile.mkdtemp(prefix="gannet-outage-"))
# nginx answers as a user without rights.
folder.chmod(0o755)
try:
    print(f"One worker with 64 places, an origin that answers {options.pace} times a second, one of three primaries away.\n")
    print("| a body | requests a second in the outage | stands still after | with jobs | MB before | MB then |")
    print("| --- | --- | --- | --- | --- | --- |")
    for kind in options.kinds:
        print(f"| {outage(kind)} |", flush=True)
finally:
    shutil.rmtree(folder)
