"""Breaks things on purpose, repeatably, and compares a ledger.

  Scripts/chaos                           all rows with small numbers, in about three minutes
  Scripts/chaos --row NAME --seed N       one row again, with the same plan of faults; several --row are possible
  Scripts/chaos --jobs N, --minutes M     so many jobs a row; faults for so long
  Scripts/chaos --part 4 --seed N         a quarter of all rows, by the seed: four seeds in a row have all rows
  Scripts/chaos --list                    the rows
  Scripts/chaos --self-test               plants faults that the ledger has to find

GANNET names the program to try. Each row runs real servers and real processes of the program, and breaks them by a plan that follows from
the seed. Afterwards a ledger is compared from outside. Each accepted job has ended once, and each body is right. The origin was asked as
often as the counts say. No URL that can be fetched is dead, no job waits for long beside free places, and nothing is left over. A row
that needs a right which this machine does not give says so, and is no failure. Any other row that cannot run fails.

Ends with 0 when all invariants held, with 1 otherwise, and with 64 for wrong arguments.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "Servers"))

import plant  # noqa: E402 (the line above says where its modules are)
import rows  # noqa: E402
import rows_operators  # noqa: E402, F401 (it fills the list of rows)
import rows_redis  # noqa: E402, F401
import rows_workers  # noqa: E402, F401
from trial import Trial  # noqa: E402

COLUMNS = ["row", "faults", "jobs", "requests", "repeats", "double", "crashes", "retries", "handed", "poison", "lost", "seconds"]
TITLES = ["row", "faults", "jobs", "requests", "repeats", "double fetches", "crashes", "retries", "hand-backs", "poison", "lost", "s"]
WIDTHS = [25, 6, 8, 9, 7, 14, 7, 7, 10, 6, 6, 4]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--row", action="append", default=[], metavar="NAME")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--part", type=int, default=1)
    parser.add_argument("--together", type=int, default=4, help="how many rows run at the same time (4)")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--keep", action="store_true", help="keep the folders of all rows")
    parser.add_argument("--play", help=argparse.SUPPRESS)
    parser.add_argument("--plant", help=argparse.SUPPRESS)
    options = parser.parse_args()
    unknown = [name for name in options.row if not rows.find(name)]
    if unknown:
        parser.exit(64, f"chaos: there is no row {unknown[0]}; --list names all\n")
    return options


def play(options):
    """A row's own process: the result is a file in its folder."""
    for number in [signal.SIGTERM, signal.SIGHUP]:
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    row = rows.find(options.row[0])
    seconds = options.minutes * 60 if options.minutes else None
    planted = plant.find(options.plant)() if options.plant else None
    trial = Trial(row, os.environ["GANNET"], pathlib.Path(options.play), options.seed, options.jobs, seconds, planted)
    (trial.folder / "result").write_text(json.dumps(trial.run()))


def started_in(folder):
    """All processes that a row has started, whoever their parent is now: each has its working folder there."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(entry / "cwd").startswith(str(folder)):
                found.append(int(entry.name))
        except OSError:
            pass
    return found


class Running:
    """A row that runs in a process of its own, within a bounded time."""

    def __init__(self, row, options, planted=None):
        self.row, self.planted, self.keeps = row, planted, options.keep
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gannet-chaos-"))
        # nginx answers as a user without rights.
        self.folder.chmod(0o755)
        words = ["--row", row.name, "--seed", str(options.seed)]
        if options.jobs:
            words += ["--jobs", str(options.jobs)]
        if options.minutes:
            words += ["--minutes", str(options.minutes)]
        self.command = "Scripts/chaos " + " ".join(words)
        if planted:
            words += ["--plant", planted.name]
        gannet = str(pathlib.Path(os.environ["GANNET"]).resolve())
        limit = row.limit + (options.minutes or 0) * 90 + (options.jobs or 0) / 40
        self.begun, self.deadline = time.monotonic(), time.monotonic() + limit
        self.log = (self.folder / "log").open("w")
        self.process = subprocess.Popen(
            [sys.executable, "-B", str(here / "chaos.py"), "--play", str(self.folder), *words],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, start_new_session=True,
            env={**os.environ, "GANNET": gannet}, cwd=self.folder,
        )  # fmt: skip

    def poll(self):
        """The result, once there is one."""
        if self.process.poll() is None and time.monotonic() < self.deadline:
            return None
        is_late = self.process.poll() is None
        self.end()
        file = self.folder / "result"
        if file.exists():
            result = json.loads(file.read_text())
        else:
            said = (self.folder / "log").read_text(errors="replace").strip().splitlines()[-1:]
            result = {"row": self.row.name, "seconds": round(time.monotonic() - self.begun)}
            result["wrong"] = [f"the row did not end within {result['seconds']} s" if is_late else f"the row ended with {self.process.returncode}: {said}"]
        if self.left and file.exists():
            result["wrong"].append(f"{len(self.left)} processes were left: {self.left}")
        if result["wrong"] and not self.planted or self.keeps:
            result["folder"] = str(self.folder)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)
        return result

    def end(self):
        """The row ends what it has started. The rest is found by its working folder."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.left = []
        for process in started_in(self.folder):
            try:
                self.left.append(f"{process} {pathlib.Path(f'/proc/{process}/comm').read_text().strip()}")
                os.kill(process, signal.SIGKILL)
            except OSError:
                pass
        for place in ["store", "redis", "state"]:
            if os.path.ismount(self.folder / place):
                subprocess.run(["umount", "-l", self.folder / place], capture_output=True)


def line(cells):
    first, *rest = zip(cells, WIDTHS)
    return f"{first[0]:<{first[1]}} " + " ".join(f"{str(cell):>{width}}" for cell, width in rest)


def together(starts, count, report):
    """Runs as many at a time, and reports each at its end."""
    running, waiting = [], list(starts)
    try:
        while running or waiting:
            while waiting and len(running) < count:
                running.append(waiting.pop(0)())
            for each in list(running):
                result = each.poll()
                if result is not None:
                    running.remove(each)
                    report(each, result)
            time.sleep(0.1)
    finally:
        for each in running:
            each.end()
            shutil.rmtree(each.folder, ignore_errors=True)


def chaos(options):
    chosen = [rows.find(name) for name in options.row] or rows.ROWS[options.seed % options.part :: options.part]
    # Long rows first, so that no row is left alone at the end.
    chosen = sorted(chosen, key=lambda row: -row.seconds)
    skipped = {row.name: row.missing() for row in chosen}
    failures = []
    print(line(TITLES) + "  verdict")

    def report(running, result):
        verdict = "WRONG" if result["wrong"] else "held"
        print(line([result.get(column, "") for column in COLUMNS]) + f"  {verdict:7}  {running.command}", flush=True)
        for sentence in result["wrong"][:12]:
            print(f"    {sentence}", flush=True)
        if len(result["wrong"]) > 12:
            print(f"    and {len(result['wrong']) - 12} more")
        if "folder" in result:
            print(f"    the logs are in {result['folder']}", flush=True)
        if result["wrong"]:
            failures.append(result["row"])

    starts = [lambda row=row: Running(row, options) for row in chosen if not skipped[row.name]]
    together(starts, options.together, report)
    for row in chosen:
        if skipped[row.name]:
            print(f"{row.name:<25} cannot run here: it needs {skipped[row.name]}")
    if failures:
        print(f"chaos: {len(failures)} of {len(chosen)} rows went wrong: {', '.join(sorted(failures))}")
    return 1 if failures else 0


def self_test(options):
    """Each planted fault has to be found, by the sentence that is for it."""
    options.row, missed = [], []

    def report(running, result):
        found = [sentence for sentence in result["wrong"] if running.planted.sentence in sentence]
        print(f"{running.planted.name:<25} {'found' if found else 'MISSED'}  {(found or result['wrong'] or ['nothing'])[0][:140]}", flush=True)
        if not found:
            missed.append(running.planted.name)

    row = rows.find("calm")
    together([lambda each=each: Running(row, options, each) for each in plant.PLANTS], options.together, report)
    if missed:
        print(f"chaos: the ledger does not find {', '.join(missed)}")
    return 1 if missed else 0


def main():
    options = arguments()
    if options.list:
        for row in rows.ROWS:
            marks = [" (may lose by documentation)"] * row.loses + [" (needs a right)"] * (row.missing() is not None)
            print(f"{row.name:<25} {row.about}{''.join(marks)}")
        return 0
    if options.play:
        return play(options)
    for number in [signal.SIGTERM, signal.SIGHUP]:
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    if options.seed is None:
        options.seed = random.randrange(10**6)
    try:
        return self_test(options) if options.self_test else chaos(options)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
