"""Measures fetchers on a made-up web: thousands of hosts on loopback, of which some are dead, slow or angry.

  web.py GANNET [--quick] [--profile NAME…] [--seed N…] [--program NAME…] [--hosts N] [--urls N] [--limit SECONDS] [--keep FOLDER]

For each profile, seed and program it starts a fresh web (WebBenchmark) and lets the program fetch its list. All of it runs in namespaces of its own, where
names come from the web's DNS server at 127.0.0.1:53. Prints a table in Markdown for each profile: medians over the seeds.
"""

import argparse
import os
import pathlib
import statistics
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).parents[2] / "Tests/Servers"), str(pathlib.Path(__file__).parents[1] / "Datasets")]
from base import say  # noqa: E402 (the line above says where base is)
from fetchers import FETCHERS, command  # noqa: E402
from namespace import enter  # noqa: E402
from runs import Measured, measure  # noqa: E402

PROFILES = ["clean", "usual", "rotten", "slow", "angry", "giant", "moving"]
SHARES = ["50", "90", "99", "100"]


def arguments():
    parser = argparse.ArgumentParser(description="Fetchers on a made-up web.")
    parser.add_argument("gannet")
    parser.add_argument("--quick", action="store_true", help="everything runs, and the figures mean nothing")
    parser.add_argument("--profile", nargs="+", choices=[*PROFILES, "all"], default=["clean", "usual"])
    parser.add_argument("--seed", nargs="+", type=int, default=[1])
    parser.add_argument("--program", nargs="+", choices=list(FETCHERS), default=["gannet", "curl"])
    parser.add_argument("--hosts", type=int, help="hosts of the web (1000)")
    parser.add_argument("--urls", type=int, help="URLs of the list (10000)")
    parser.add_argument("--limit", type=float, help="seconds after which a program is ended (300)")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder that keeps each run's record of requests and analysis")
    options = parser.parse_args()
    usual = {"hosts": (1000, 60), "urls": (10_000, 300), "limit": (300, 30)}
    for key, values in usual.items():
        if getattr(options, key) is None:
            setattr(options, key, values[options.quick])
    if "all" in options.profile:
        options.profile = PROFILES
    return options


def row(*cells):
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def middle(values):
    """The median; None where less than half of the runs got so far."""
    found = sorted(value if value is not None else float("inf") for value in values)
    value = statistics.median_low(found)
    return None if value == float("inf") else value


def seconds(value, limit):
    return f"> {limit:.0f} s" if value is None else f"{value:.1f} s"


def table(profile, options, results):
    """- results: a list of Measured by program."""
    any_run = next(iter(results.values()))
    good = sum(run.analysis["good"] for run in any_run)
    print(f"\n`{profile}`: {options.hosts:,} hosts, {options.urls:,} URLs, of which {good / len(any_run):,.0f} are good; seeds {', '.join(map(str, options.seed))}\n")
    row("program", "good URLs", *[f"until {share} %" for share in SHARES], "until its end", "requests", "CPU")
    row(*["---"] * 9)
    for name, key in [("hosts alone", "idealOfHosts"), ("ideal", "ideal"), ("ideal of a polite client", "politeIdeal")]:
        row(f"*{name}*", "", *[f"{middle([run.analysis[key][share] for run in any_run]):.1f} s" for share in SHARES], "", "", "")
    for name, runs in results.items():
        cells = []
        for share in SHARES:
            value = middle([run.until(share) for run in runs])
            ideal = middle([run.analysis["ideal"][share] for run in runs])
            # A program that has ended does not get the rest.
            missing = "never" if all(run.seconds is not None for run in runs) else seconds(None, options.limit)
            cells.append(missing if value is None else f"{value:.1f} s ({value / max(ideal, 0.001):.1f} ×)")
        answered = sum(run.analysis["goodAnswered"] for run in runs)
        row(
            name, f"{answered / max(good, 1):.1%}", *cells, seconds(middle([run.seconds for run in runs]), options.limit),
            f"{middle([run.analysis['requests'] for run in runs]):,}", f"{middle([run.cpu for run in runs]):.1f} s",
        )
    manners(results)


def manners(results):
    keys = {
        "most requests in flight at a host": "mostInFlight",
        "requests above what their host had earned": "aboveAllowance",
        "requests before Retry-After was over": "beforeRetryAfter",
        "origins whose robots.txt was asked for again": "robotsAskedAgain",
        "requests before the robots.txt of their origin": "beforeRobots",
        "requests of disallowed URLs": "disallowed",
    }
    print("\nManners, the worst of the seeds\n")
    row("", *results)
    row(*["---"] * (1 + len(results)))
    for what, key in keys.items():
        row(what, *[max(run.analysis["audit"][key] for run in runs) for runs in results.values()])
    kinds = sorted({kind for runs in results.values() for run in runs for kind in run.analysis["audit"]["dead"]})
    for kind in kinds:
        cells = []
        for runs in results.values():
            dead = [run.analysis["audit"]["dead"].get(kind) for run in runs]
            dead = [one for one in dead if one]
            sums = {key: sum(one[key] for one in dead) for key in ("hosts", "urls", "connections", "requests", "lookUps")}
            cells.append(
                f"{sums['hosts']} hosts, {sums['urls']} URLs: {sums['lookUps']} look-ups, {sums['connections']} connections, {sums['requests']} requests"
            )
        row(f"{kind}", *cells)
    for name, runs in results.items():
        for sentence in [one for run in runs for one in run.analysis["audit"]["examples"]][:3]:
            if name == "gannet":
                print(f"\n- {name}: {sentence}")


def main():
    options = arguments()
    enter()
    with tempfile.TemporaryDirectory(prefix="web-") as name:
        scratch = pathlib.Path(name)
        print(f"`Scripts/bench web`, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the begin; medians of {len(options.seed)} seeds.", flush=True)
        for profile in options.profile:
            results = {name: [] for name in options.program}
            for seed in options.seed:
                # The same list at hosts without latency and misbehaviour shows the work of the processor.
                plain = measure(options, profile, seed, "gannet", scratch, tame=True)
                processor = plain.until("100") or options.limit
                say(f"{profile}, seed {seed}: without latency and misbehaviour {processor:.1f} s")
                for program in options.program:
                    run: Measured = measure(options, profile, seed, program, scratch, processor=processor)
                    say(f"{profile}, seed {seed}, {program}: {run.analysis['goodAnswered']} of {run.analysis['good']} good URLs, end {run.seconds}, load {os.getloadavg()[0]:.1f}")
                    results[program].append(run)
            table(profile, options, results)
        print("")
        for name in options.program:
            words = [str(word) for word in command(name, options.gannet, pathlib.Path("list.txt"), pathlib.Path("out"), pathlib.Path("ca.pem"))]
            print(f"- {name}: `{' '.join([pathlib.Path(words[0]).name, *words[1:]])}`")


if __name__ == "__main__":
    main()
