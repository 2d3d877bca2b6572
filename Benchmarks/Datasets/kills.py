"""Kills runs, looks at the shards that they leave, and counts the requests of the next run."""

import dataclasses
import hashlib
import random
import shutil
import subprocess
import time

from base import say, until
from programs import Run
from shards import problems, shards


@dataclasses.dataclass
class Sum:
    """Over all kills of one program."""

    kills: int = 0
    fetched: int = 0
    complete: int = 0
    half: int = 0
    read_short: int = 0
    unreadable: int = 0
    left: int = 0
    changed: int = 0
    again: int = 0
    missing_again: int = 0
    whole: int = 0
    seconds: float = 0
    said: list = dataclasses.field(default_factory=list)


def first_request(run, origin):
    """Waits for it. Answers the seconds since the start."""
    until("the run asks the origin", lambda: origin.log.stat().st_size or run.process.poll() is not None)
    return time.monotonic() - run.begun


def look(folder, reference, total):
    """Counts what has the name of a shard. Answers the digest of each complete one."""
    complete = {}
    for shard in shards(folder):
        if shard.is_listed and not shard.error and set(shard.paths) == reference.get(shard.path.name):
            total.complete += 1
            complete[shard.path] = shard.digest
        elif shard.is_listed and not shard.error:
            # Both readers take it for a whole shard.
            total.half += 1
            total.read_short += 1
        else:
            total.half += 1
            total.unreadable += 1
    return complete


def trial(command, rows, folder, origin, wanted, kills, seed, name, spared, also_redis=False):
    """Kills a run at a random moment between its first request and its usual end, so many times, each in a folder of its own."""
    rng, total = random.Random(seed), Sum()
    origin.forget()
    usual = Run(command(rows, folder), folder, spared)
    start = first_request(usual, origin)
    usual.finish()
    usual.end()
    longest = usual.seconds - start
    reference = {shard.path.name: set(shard.paths) for shard in shards(folder)}
    say(f"{name}: {len(reference)} shards in {usual.seconds:.1f} s without a kill, the first request after {start:.1f} s; {problems(shards(folder), wanted) or 'nothing is missing'}")
    shutil.rmtree(folder)
    while total.kills < kills:
        moment = rng.uniform(0, longest)
        origin.forget()
        run = Run(command(rows, folder), folder, spared)
        first_request(run, origin)
        try:
            run.process.wait(moment)
        except subprocess.TimeoutExpired:
            total.kills += 1
        else:
            say(f"{name}: a run ended before {moment:.1f} s, and another one is killed")
            run.end()
            shutil.rmtree(folder)
            continue
        left = run.kill(also_redis)
        total.left += len(left)
        before = origin.requests()
        complete = look(folder, reference, total)
        origin.forget()
        run = Run(command(rows, folder), folder, spared)
        run.finish()
        run.end()
        total.seconds += run.seconds
        after = origin.requests()
        total.fetched += len(before)
        again = before.keys() & after.keys()
        total.again += len(again & wanted) + sum(count - 1 for path, count in after.items() if path in wanted)
        total.missing_again += len(again - wanted)
        total.changed += sum(not path.exists() or hashlib.sha256(path.read_bytes()).hexdigest() != digest for path, digest in complete.items())
        wrong = problems(shards(folder), wanted)
        total.whole += not wrong
        total.said += [f"kill {total.kills}: {sentence}" for sentence in wrong]
        say(f"{name}: killed {moment:.1f} s after the first request, with {len(before)} requests, {len(complete)} shards complete, left {left}; then {len(after)} requests, {len(again)} again, {wrong or 'whole'}")
        shutil.rmtree(folder)
    return total
