"""One run: a fresh web, a program that fetches its list, and the web's analysis."""

import contextlib
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from fetchers import command, environment
from programs import descendants, spent, sweep

WEB = pathlib.Path(__file__).parents[2] / ".build/release/WebBenchmark"


@dataclasses.dataclass
class Measured:
    begun: int
    # None for a program that was ended at the limit.
    seconds: float | None
    cpu: float
    analysis: dict

    def until(self, share):
        """Seconds from the program's start until this share of the good URLs was there; None for never."""
        at = self.analysis["goodAt"].get(share)
        return None if at is None else (at - self.begun) / 1e9


class Web:
    def __init__(self, options, profile, seed, folder, processor, tame):
        words = [WEB, profile, seed, folder, f"hosts={options.hosts}", f"urls={options.urls}", "dns=53", f"processor={processor}"]
        words = [str(word) for word in [*words, *(["tame"] if tame else [])]]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.place = json.loads(self.line())

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"web: WebBenchmark ended with {self.process.wait()} and said nothing")
        return line

    def analysis(self):
        self.process.stdin.close()
        found = json.loads(self.line())
        self.process.wait()
        return found


def emptied(folder):
    """Frees the space of a run. Its files stay until all runs are over: ext4 passes over each inode that was freed within the last minute,
    which would be most of the work of the next run's files."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            os.truncate(path, 0)


def measure(options, profile, seed, program, scratch, processor=0.0, tame=False):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="run-", dir=scratch))
    (folder / "out").mkdir()
    web = Web(options, profile, seed, folder, processor, tame)
    # The web, and its watchdog, which removes its files when it has ended.
    spared = descendants()
    authority = pathlib.Path(web.place["authority"])
    words = [str(word) for word in command(program, options.gannet, pathlib.Path(web.place["list"]), folder / "out", authority)]
    if not shutil.which(words[0]):
        sys.exit(f"web: there is no {words[0]}; Scripts/setup --bench installs it")
    before = spent()
    log = folder / "log"
    with log.open("wb") as file:
        begun = time.monotonic_ns()
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=environment(folder, authority), start_new_session=True
        )
        seconds = None
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(options.limit)
            seconds = (time.monotonic_ns() - begun) / 1e9
    # Also the private Redis of gannet, which would stay for ten minutes.
    sweep(spared)
    cpu = spent() - before
    analysis = web.analysis()
    if not analysis["requests"]:
        sys.exit(f"web: {program} sent no request: {log.read_text(errors='replace')[-2000:]}")
    if options.keep:
        kept = options.keep / f"{profile}{'-tame' if tame else ''}-{seed}-{program}"
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        for name in ("list.txt", "record.tsv", "log"):
            shutil.copy(folder / name, kept)
        (kept / "analysis.json").write_text(json.dumps(analysis | {"begun": begun, "seconds": seconds, "cpu": cpu}, indent=1))
    emptied(folder)
    return Measured(begun, seconds, cpu, analysis)
