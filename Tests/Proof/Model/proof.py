"""The state engine as a model for spin, checked exhaustively, and its schedules made again on the real scripts.

  Scripts/proof model [CONFIGURATION…]      searches all states of the model; by default `small`
  Scripts/proof replay [SCHEDULES [SEED]]   random schedules of all configurations, on the scripts in a real redis-server
  Scripts/proof planted [GANNET]            the methods find faults that are planted on purpose; with a program, the trace too
  Scripts/proof trace GANNET [JOBS]         a run of the program whose calls are checked by the model's rules, one after the other

Docs/PROOF.md says what is in the model and what is not. Ends with 1 where a rule is broken.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

import faults
import trace
from replay import Difference, Replay, schedules
from server import Scripts, Server, compiler
from state import Settings

FOLDER = pathlib.Path(__file__).resolve().parent
MODEL = FOLDER / "model.pml"

# Two URLs. JOB_QUEUES, JOB_URLS, URL_HOSTS and WORKER_QUEUES have a bit for each job, URL or worker. The other numbers say how often
# each kind of trouble may come.
CONFIGURATIONS = {
    # Two queues with a worker each. Two jobs of one URL, in both queues; a third at another host.
    "small": "JOBS=3 WORKERS=2 JOB_QUEUES=2 JOB_URLS=4 URL_HOSTS=2 WORKER_QUEUES=2 TICKS=2 RESTARTS=1 LOSSES=1 RETRIES=1 BACKS=1 FAILS=0 ACQUIRES=0",
    # One host with one place for both URLs, and jobs that fail for good.
    "host": "JOBS=3 WORKERS=2 JOB_QUEUES=2 JOB_URLS=4 URL_HOSTS=0 WORKER_QUEUES=2 TICKS=2 RESTARTS=1 LOSSES=0 RETRIES=1 BACKS=1 FAILS=1 ACQUIRES=0",
    # Two workers of one queue, and a caller without a job that takes the locks of URLs.
    "caller": "JOBS=2 WORKERS=2 JOB_QUEUES=0 JOB_URLS=0 URL_HOSTS=2 WORKER_QUEUES=0 TICKS=2 RESTARTS=1 LOSSES=1 RETRIES=1 BACKS=0 FAILS=0 ACQUIRES=1",
    # A worker that dies with a URL, until that is fetched alone and then given up.
    "poison": "JOBS=2 WORKERS=1 JOB_QUEUES=0 JOB_URLS=2 URL_HOSTS=2 WORKER_QUEUES=0 TICKS=8 RESTARTS=3 LOSSES=0 RETRIES=0 BACKS=0 FAILS=0 ACQUIRES=0",
    # All of it, for hours and many gigabytes; its schedules are replayed.
    "large": "JOBS=4 WORKERS=2 JOB_QUEUES=6 JOB_URLS=12 URL_HOSTS=0 WORKER_QUEUES=2 TICKS=6 RESTARTS=4 LOSSES=3 RETRIES=3 BACKS=3 FAILS=1 ACQUIRES=2",
}


def definitions(name):
    return ["-D" + word for word in CONFIGURATIONS[name].split()]


def say(text):
    print(f"proof: {text}", flush=True)


def search(name, fault=0, quiet=False):
    """Searches a configuration. Answers whether all rules held, whether the search was complete, its states, its depth, and the seconds."""
    with tempfile.TemporaryDirectory(prefix="gannet-proof-") as folder:
        for file in FOLDER.glob("*.pml"):
            os.symlink(file, pathlib.Path(folder) / file.name)
        words = definitions(name) + [f"-DFAULT={fault}"]
        subprocess.run(["spin", *words, "-a", "model.pml"], cwd=folder, check=True, capture_output=True)
        # No partial-order reduction and no bitstate: all states, each whole. States are kept compressed, without a loss.
        subprocess.run([compiler(), "-O1", "-w", "-DSAFETY", "-DNOREDUCE", "-DCOLLAPSE", "-o", "pan", "pan.c"], cwd=folder, check=True)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        stack = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
        done = subprocess.run(
            ["./pan", "-m100000", "-w24"], cwd=folder, capture_output=True, text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, stack),
        )
        # Of its processor, because other programs may want that too.
        took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        text = done.stdout
        states, depth = int(re.search(r"(\d+) states, stored", text)[1]), int(re.search(r"depth reached (\d+)", text)[1])
        broken = re.search(r"pan:1: (.*)", text)
        complete = "Search not completed" not in text and "max search depth too small" not in text and "out of memory" not in text
        if broken and not quiet:
            say(f"{name}: {broken[1]}")
            shown = subprocess.run(["spin", *words, "-T", "-t", "model.pml"], cwd=folder, capture_output=True, text=True).stdout
            print("\n".join(line for line, _ in schedules(shown)))
        return not broken, complete, states, depth, took


def model(names):
    result = 0
    for name in names or ["small"]:
        holds, complete, states, depth, took = search(name)
        verdict = "all rules hold" if holds else "a rule is broken"
        say(f"{name}: {verdict}, {'all' if complete else 'not all'} states were searched: {states:,} states, depth {depth}, {took:.0f} s of the processor")
        result = result or int(not holds or not complete)
    return result


def simulate(name, seed):
    """A random schedule of the model: between 8 and 40 steps of trouble before the fleet settles down."""
    words = definitions(name) + [f"-DWALK={8 + seed % 33}", f"-n{seed}", "-T", "-u100000"]
    with tempfile.TemporaryDirectory(prefix="gannet-proof-") as folder:
        for file in FOLDER.glob("*.pml"):
            os.symlink(file, pathlib.Path(folder) / file.name)
        done = subprocess.run(["spin", *words, "model.pml"], cwd=folder, capture_output=True, text=True)
    if "assertion violated" in done.stdout or done.returncode:
        raise SystemExit(f"proof: the model breaks a rule in a random schedule of {name}, seed {seed}: {done.stdout[-600:]}{done.stderr}")
    return schedules(done.stdout)


def drawn(count, seed):
    """So many random schedules, of each configuration in turn: the name, the seed and the steps."""
    names = list(CONFIGURATIONS)
    jobs = [(names[number % len(names)], seed + number // len(names)) for number in range(count)]
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("CORES", "1"))) as pool:
        for (name, own), steps in zip(jobs, pool.map(lambda job: simulate(*job), jobs)):
            yield name, own, steps


def replay(count, seed, scripts=None):
    """Answers the number of schedules, of steps and of calls until the end or the first difference, and the difference."""
    begun, different, steps_made, calls = time.monotonic(), set(), 0, 0
    with Server(scripts or Scripts()) as server:
        for number, (name, own, steps) in enumerate(drawn(count, seed)):
            course = Replay(server, Settings(definitions(name)))
            try:
                course.run(steps)
            except Difference as difference:
                return number + 1, len(different), steps_made, calls, time.monotonic() - begun, (name, own, steps, difference)
            different.add("\n".join(line for line, _ in steps))
            steps_made += len(steps)
            calls += course.calls
    return count, len(different), steps_made, calls, time.monotonic() - begun, None


def replays(count, seed):
    say(f"{count} schedules, seed {seed}")
    made, different, steps, calls, took, failure = replay(count, seed)
    if failure:
        name, own, lines, difference = failure
        print("\n".join(line for line, _ in lines))
        say(f"{name}, seed {own}: {difference}")
        return 1
    say(f"{made} schedules ({different} different), {steps:,} steps, {calls:,} calls, {took:.0f} s: each answer and each state was the model's")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["model", "replay", "planted", "trace"])
    parser.add_argument("arguments", nargs="*")
    options = parser.parse_args()
    words = options.arguments
    if options.what == "model":
        unknown = set(words) - set(CONFIGURATIONS)
        if unknown:
            say(f"unknown: {', '.join(sorted(unknown))} (there are {', '.join(CONFIGURATIONS)})")
            return 64
        return model(words)
    if options.what == "replay":
        return replays(int(words[0]) if words else 200, int(words[1]) if len(words) > 1 else int.from_bytes(os.urandom(2)))
    if options.what == "planted":
        return faults.planted(search, replay, trace.check, words[0] if words else None)
    if not words:
        say("trace needs the program")
        return 64
    return trace.check(words[0], int(words[1]) if len(words) > 1 else 300)


sys.exit(main())
