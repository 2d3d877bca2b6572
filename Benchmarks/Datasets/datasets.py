"""Measures a dataset of pictures in shards, by gannet and by img2dataset.

  datasets.py GANNET [--quick] [--pictures N] [--rounds N] [--kills N] [--kill-pictures N] [--seed N]

Both fetch the same list from one nginx and write webdataset's shards with captions, by turns. Then both are killed at random moments. Prints
tables for Benchmarks/RESULTS.md.
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "Tests/Servers"))
import kills  # noqa: E402 (the line above says where base is)
from base import say  # noqa: E402
from pictures import MISSING, SIDES, Origin  # noqa: E402
from programs import PLACES, PROCESSES, Run, gannet, img2dataset, sweep  # noqa: E402
from shards import problems, shards  # noqa: E402

SIZE = 256
MODES = ["border", "center-crop"]
parser = argparse.ArgumentParser(description="Datasets of pictures, by gannet and by img2dataset.")
parser.add_argument("gannet")
parser.add_argument("--quick", action="store_true", help="everything runs, and the figures mean nothing")
parser.add_argument("--pictures", type=int, help="rows of the list (4000)")
parser.add_argument("--rounds", type=int, help="runs of each program in each mode (3)")
parser.add_argument("--kills", type=int, help="kills of each program (10)")
parser.add_argument("--kill-pictures", type=int, help="rows of the list for kills (1000)")
parser.add_argument("--modes", nargs="+", default=MODES, help="ways in which pictures meet the size")
parser.add_argument("--files", type=int, help="pictures of the origin, which rows have by turns (500)")
parser.add_argument("--seed", type=int, default=22)
options = parser.parse_args()
usual = {"pictures": (4000, 200), "rounds": (3, 1), "kills": (10, 2), "kill_pictures": (1000, 200), "files": (500, 50)}
for key, values in usual.items():
    if getattr(options, key) is None:
        setattr(options, key, values[options.quick])


def measure(command, rows, folder, wanted, spared):
    # The files of the run before are written now, and not in this one's time.
    os.sync()
    load = os.getloadavg()[0]
    run = Run(command(rows, folder), folder, spared)
    together, largest = run.finish()
    cpu = run.end()
    found = shards(folder)
    wrong = problems(found, wanted)
    if wrong:
        sys.exit(f"datasets: {folder}: {wrong}")
    written = sum(shard.bytes for shard in found)
    shutil.rmtree(folder)
    return {"rate": options.pictures / run.seconds, "cpu": cpu, "together": together, "largest": largest, "written": written, "load": load}


def middle(runs, key):
    return statistics.median(run[key] for run in runs)


def ratio(ours, theirs, key):
    return statistics.median(one[key] / other[key] for one, other in zip(ours, theirs))


def row(*cells):
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def megabytes(count):
    return f"{count / 1e6:.0f} MB"


def table(mode, results):
    print(f"\nPictures of {SIZE} × {SIZE} pixels with `{mode}`\n")
    row("program", "rows", "a second: median (lowest to highest)", "gannet / this", "CPU for each", "this / gannet", "peak memory", "of the largest process", "shards")
    row(*["---"] * 9)
    ours = results[0][1]
    for name, runs in results:
        rates = [run["rate"] for run in runs]
        row(
            name, f"{options.pictures:,}", f"{statistics.median(rates):.0f}/s ({min(rates):.0f} to {max(rates):.0f})", f"{ratio(ours, runs, 'rate'):.2f}",
            f"{middle(runs, 'cpu') / options.pictures * 1000:.1f} ms", f"{ratio(runs, ours, 'cpu'):.2f}", megabytes(middle(runs, "together")),
            megabytes(middle(runs, "largest")), megabytes(middle(runs, "written")),
        )
    loads = [run["load"] for _, runs in results for run in runs]
    print(f"\nThe load of the machine was {min(loads):.1f} to {max(loads):.1f} before these runs.", flush=True)


def contest(origin, scratch):
    rows = scratch / "list.parquet"
    wanted = origin.list(rows, options.pictures, options.seed)
    # Each of img2dataset's processes has as many shards as the others, and it starts no process anew.
    per_shard = max(1, options.pictures // PROCESSES // 2)
    for mode in options.modes:
        programs = [("gannet run", gannet(options.gannet, SIZE, mode, per_shard)), ("img2dataset", img2dataset(SIZE, mode, per_shard))]
        results = [(name, []) for name, _ in programs]
        for round in range(options.rounds):
            for (name, command), (_, runs) in zip(programs, results):
                runs.append(measure(command, rows, scratch / "out", wanted, {origin.process.pid}))
                say(f"{mode}, round {round + 1}, {name}: {runs[-1]}")
        table(mode, results)
        if mode == options.modes[-1]:
            print("")
            for name, command in programs:
                words = [str(word) for word in command("list.parquet", "out")]
                print(f"- {name}: `{' '.join([pathlib.Path(words[0]).name, *words[1:]])}`")


def killed(origin, scratch):
    rows = scratch / "short.parquet"
    wanted = origin.list(rows, options.kill_pictures, options.seed + 1)
    per_shard = max(1, options.kill_pictures // 10)
    ours, theirs = gannet(options.gannet, SIZE, MODES[0], per_shard), img2dataset(SIZE, MODES[0], per_shard)
    programs = [("gannet run", ours, False), ("gannet run, and its Redis", ours, True), ("img2dataset", theirs, False)]
    sums = []
    for name, command, also_redis in programs:
        one = kills.trial(command, rows, scratch / "killed", origin, wanted, options.kills, options.seed, name, {origin.process.pid}, also_redis)
        sums.append((name, one))
    print(f"\n`kill -9` of the group of processes at a random moment between the first request and the usual end, {options.kills} times each, with {options.kill_pictures:,} rows and {per_shard} a shard\n")
    row("", *[name for name, _ in sums])
    row(*["---"] * (1 + len(sums)))
    lines = {
        "kills before the end": lambda one: one.kills,
        "URLs requested before the kills": lambda one: f"{one.fetched:,}",
        "complete shards after the kills": lambda one: one.complete,
        "files with the name of a shard that are not complete": lambda one: one.half,
        "of these, read by `tar` and webdataset without an error": lambda one: one.read_short,
        "of these, an error of `tar` or webdataset": lambda one: one.unreadable,
        "processes that were left after a second": lambda one: one.left,
        "complete shards that the next run changed": lambda one: one.changed,
        "pictures that the next run requested again": lambda one: f"{one.again:,}",
        "missing URLs (404) that it requested again": lambda one: f"{one.missing_again:,}",
        "time of the next run, mean": lambda one: f"{one.seconds / max(1, options.kills):.1f} s",
        "datasets whole after the next run": lambda one: f"{one.whole} of {options.kills}",
    }
    for what, tell in lines.items():
        row(what, *[tell(one) for _, one in sums])
    for name, one in sums:
        for sentence in one.said:
            print(f"\n- {name}: {sentence}")


def machine():
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    kilobytes = int(re.search(r"MemTotal: *(\d+)", pathlib.Path("/proc/meminfo").read_text())[1])
    return f"{PROCESSES} cores of {model[1] if model else 'an unknown processor'}, {kilobytes // 1_000_000} GB"


def main():
    # The signal of a time limit ends this program with all that it has started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        # nginx does not serve files of a folder that only root may enter.
        scratch.chmod(0o755)
        print(f"`Scripts/bench datasets`, {machine()}; medians of {options.rounds} rounds, all in each round.\n", flush=True)
        origin = Origin(scratch / "origin", options.files, options.seed)
        say(f"{options.files} pictures with {origin.bytes / options.files / 1000:.0f} KB each")
        try:
            if options.rounds:
                print(
                    f"A list of {options.pictures:,} rows in Parquet, of which {MISSING:.0%} do not exist: JPEGs with sides of {SIDES[0]} to {SIDES[1]} pixels, "
                    f"{origin.bytes / options.files / 1000:.0f} KB each, made with the seed {options.seed}. They become shards with captions, with {PLACES} requests in flight"
                )
                contest(origin, scratch)
            if options.kills:
                killed(origin, scratch)
        finally:
            sweep()
    print(f"\nAll of it took {time.monotonic() - begun:.1f} s.")


if __name__ == "__main__":
    main()
