"""`gannet run`: killed and started again, and two of them with one list. The ledger is in their folders, and not in Redis."""

import hashlib
import json
import random
import signal
import subprocess
import time

from base import end, say
from origin import Origin, body_of
from program import Gannet


class Facts:
    def __init__(self):
        self.wrong, self.facts = [], {}


class Runs:
    def __init__(self, trial):
        self.trial, self.result, self.kills, self.begun = trial, Facts(), 0, 0
        place = trial.folder / "origin"
        place.mkdir()
        trial.origin = Origin(place, trial.pace, by="$server_port")
        trial.end_later(lambda: end(trial.origin.process))
        trial.program = Gannet(trial.gannet, trial.node("--appendonly", "yes").url)
        self.urls = list(dict.fromkeys(trial.urls()))
        self.list = trial.folder / "list"
        self.list.write_text("\n".join(self.urls) + "\n")

    def start(self, folder):
        self.begun += 1
        log = (self.trial.folder / f"run{self.begun}").open("w")
        words = ["run", "-i", self.list, "--dir", self.trial.folder / folder, "--allow-net", "all", "--lease", "2s", "--concurrency", 48]
        process = self.trial.program.start(log, *words, "--drain-timeout", "1s")
        self.trial.end_later(lambda: end(process))
        return process

    def killed_until_done(self, folder):
        """Ended at random moments, hard or in good order, and started again. The last one ends by itself."""
        latest = time.monotonic() + 8 * self.trial.seconds
        while time.monotonic() < latest:
            pause, number = self.plan.uniform(0.3, 2), self.plan.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM])
            process = self.start(folder)
            try:
                process.wait(pause)
                say("a run has ended before it was killed")
                return self.ended(process)
            except subprocess.TimeoutExpired:
                process.send_signal(number)
                process.wait(30)
                self.kills += 1
                say(f"fault: a run was ended by signal {number}")
        self.ended(self.start(folder))

    def ended(self, process):
        deadline = self.trial.seconds * 3 + 60
        try:
            status = process.wait(deadline)
        except Exception:
            self.result.wrong.append(f"a run did not end within {deadline:.0f} s")
            return
        # Some URLs answer 404.
        if status not in (0, 1):
            self.result.wrong.append(f"a run ended with {status}")

    def check(self, folder):
        place = self.trial.folder / folder
        try:
            lines = [json.loads(line) for line in (place / "manifest.jsonl").read_text().splitlines()]
        except OSError as error:
            self.result.wrong.append(f"no manifest: {error}")
            return
        if [line["url"] for line in lines] != self.urls:
            self.result.wrong.append(f"the manifest of {folder} has {len(lines)} rows and not the {len(self.urls)} of the list in their order")
        for line in lines:
            expected = body_of(line["url"])
            if expected is None:
                if line["outcome"] != "failed":
                    self.result.wrong.append(f"{line['url']} answers 404 and is {line['outcome']}")
                continue
            if line["outcome"] == "failed":
                self.result.wrong.append(f"{line['url']} can be fetched and has failed: {line['error']}")
                continue
            data = (place / line["file"]).read_bytes()
            if (len(data), hashlib.sha256(data).hexdigest()) != expected or line["sha256"] != expected[1]:
                self.result.wrong.append(f"the body of {line['url']} is not whole")
        left = [str(path) for path in place.rglob(".gannet-*") if path.name != ".gannet-lock"]
        if left:
            self.result.wrong.append(f"temporary files are left: {left[:3]}")


def play(trial):
    runs = Runs(trial)
    runs.plan = random.Random(trial.random.getrandbits(64))
    runs.killed_until_done("one")
    runs.check("one")
    if trial.jobs <= 20_000:
        # Two at the same time, each with a folder and thus a queue of its own. A body that is in another folder is fetched again.
        both = [runs.start("two"), runs.start("three")]
        for process in both:
            runs.ended(process)
        runs.check("two")
        runs.check("three")
    asked, _ = trial.origin.requests()
    requests = sum(asked.values())
    trial.faults = runs.kills
    runs.result.facts = {"accepted": len(runs.urls), "requests": requests, "repeats": requests - len(asked), "totals": {}}
    findings = json.loads(trial.program.run("doctor", "--json", check=False).stdout)["findings"]
    if findings:
        runs.result.wrong.append(f"doctor finds {findings}")
    strip = f":{trial.origin.port}"
    failing = {url.removeprefix("http://").replace(strip, "", 1) for url in runs.urls if body_of(url) is None}
    # A killed run may have had each of its places at a URL, and an eighth more. The other runs ask for each URL once.
    most = runs.kills * 2 * 48 + (2 * len(runs.urls) if trial.jobs <= 20_000 else 0)
    repeats = sum(count - 1 for name, count in asked.items() if name not in failing)
    if repeats > most:
        runs.result.wrong.append(f"{repeats} requests were repeats; {runs.kills} kills and the later runs permit {most}")
    # Each run asks once more for a URL that failed in an earlier one.
    worst = max((asked[name] for name in failing), default=0)
    if worst > runs.begun:
        runs.result.wrong.append(f"a URL that answers 404 was asked for {worst} times by {runs.begun} runs")
    return runs.result


