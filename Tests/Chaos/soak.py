"""Puts load on the program for a long time and breaks what it stands on, while its processes live: do their memory and descriptors stay?

Two workers, a gateway and a program with the library fetch from an origin that answers, redirects, is slow, fails and cuts. Redis is killed,
stopped and paused, forgets scripts and cuts connections. The origin is away or silent for seconds. A third worker is killed. Scripts/soak is
the command, and says how it ends.
"""

import argparse
import collections
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / "Servers"))

import line_picture  # noqa: E402 (the line above says where its modules are)
import record  # noqa: E402
from base import end, free_port, say  # noqa: E402
from origin import Origin  # noqa: E402
from plan import Plan  # noqa: E402
from program import Gannet  # noqa: E402
from redis_servers import Node  # noqa: E402

# URLs a second, and numbers of the URLs whose answers are not kept for long: they come again, so that what Redis keeps has a bound.
PER_SECOND, NUMBERS, FILES, HOSTS = 200, 20_000, 500, 50
# Seconds between two faults, on average.
PAUSE = 15


class TroubledOrigin(Origin):
    """Answers of all kinds, by the first part of the path."""

    part = "x" * 1000
    body = f'set $part "{part}"; return 200 "$request_uri{"$part" * 10}";'
    sometimes = 'if ($request_id ~ "^[0-4]")'
    bodies = f"""absolute_redirect off; default_type text/plain;
        location ~ \\.bin$ {{ root files; add_header Cache-Control max-age=2; }}
        location /new/ {{ add_header Cache-Control max-age=1; {body} }}
        location /moved/ {{ rewrite ^/moved/.*([0-9][0-9])$ /$1.bin redirect; }}
        location /gone/ {{ return 404; }}
        location /late/ {{ limit_rate 8k; {body} }}
        location /busy/ {{ {sometimes} {{ return 503; }} return 200 "$request_uri"; }}
        location /broken/ {{ {sometimes} {{ return 500; }} return 200 "$request_uri"; }}
        location /cut/ {{ {sometimes} {{ return 444; }} return 200 "$request_uri"; }}"""

    def __init__(self, folder):
        (folder / "files").mkdir()
        for number in range(FILES):
            (folder / "files" / f"{number}.bin").write_bytes(random.Random(number).randbytes(number * 40_000 // FILES))
        super().__init__(folder)


class Load:
    """The URLs of each second: new ones and known ones. They are the same in each run."""

    def __init__(self, port):
        self.port = port

    def urls(self, second):
        return [self.url(second * PER_SECOND + at, at % 100, second // 60 % 10) for at in range(PER_SECOND)]

    def url(self, number, part, minute):
        """An origin in trouble has another name in each of ten minutes, so that the state of the old name can be removed."""
        number %= NUMBERS
        host = f"host{number % HOSTS}.soak.localhost:{self.port}"
        if part < 50:
            return f"http://{host}/new/{number}"
        if part < 75:
            return self.file(number)
        for below, kind in [(83, "moved"), (88, "gone"), (90, "late")]:
            if part < below:
                return f"http://{host}/{kind}/{number}"
        for below, kind in [(93, "busy"), (96, "broken"), (99, "cut")]:
            if part < below:
                return f"http://{kind}{minute}.soak.localhost:{self.port}/{kind}/{number}"
        # Nothing listens there.
        return f"http://dead{minute}.soak.localhost:1/{number}"

    def file(self, number):
        """A URL of the files, most of whose answers are old or unchanged."""
        file = number * 7919 % FILES
        return f"http://host{file % HOSTS}.soak.localhost:{self.port}/{file}.bin"


class Soak:
    def __init__(self, options, folder):
        self.seconds, self.seed, self.folder, self.reader = 60 * options.minutes, options.seed, folder, options.reader
        self.program_path = str(pathlib.Path(options.gannet).resolve())
        self.stops, self.processes, self.faults = threading.Event(), {}, []
        self.repeats, self.answers = 0, collections.Counter()

    def start(self):
        place = self.folder / "origin"
        place.mkdir()
        self.origin = TroubledOrigin(place)
        self.node = Node(self.folder / "redis", True, ["--appendonly", "yes", "--appendfsync", "everysec"])
        self.program, self.load = Gannet(self.program_path, self.node.url), Load(self.origin.port)
        for name in ["worker 1", "worker 2"]:
            self.processes[name] = self.work(name)
        self.victim = self.work("victim")
        self.port = free_port()
        words = ["serve", "--bind", f"127.0.0.1:{self.port}", "--memory", "16MB", "--cache-limit", "32MB", "--allow-net", "all", "--timeout", "6s"]
        self.processes["gateway"] = self.program.start(self.log("gateway"), *words, "--favourites", self.folder / "favourites.json")
        if self.reader:
            words = [self.reader, "soak-reader", str(self.origin.port), str(self.folder / "reader")]
            log = self.log("library")
            self.processes["library"] = subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True)

    def log(self, name):
        return (self.folder / name.replace(" ", "")).open("a")

    def work(self, name):
        """Short times, so that state is made and removed all the time. The retries of a job that fails are over soon."""
        words = ["work", "--allow-net", "all", "--concurrency", 32, "--host-limit", 16, "--cache-limit", "32MB", "--lease", "5s", "--timeout", "6s"]
        return self.program.start(self.log(name), *words, "--retries", 2, "--give-up-after", "20s", "--host-patience", "10s")

    def end(self):
        self.stops.set()
        end(*self.processes.values(), self.victim, self.node.process, self.origin.process)

    # The load

    def produce(self):
        """Enqueues the URLs of each second. After a late second the next comes at once. A call that fails is made again."""
        file, begun = self.folder / "second", time.monotonic()
        for second in range(self.seconds):
            if self.stops.wait(max(0, begun + second - time.monotonic())) or time.monotonic() > begun + self.seconds:
                return
            file.write_text("\n".join(self.load.urls(second)) + "\n")
            while self.program.run("enqueue", "-i", file, "--as-cache", "--quiet", check=False, seconds=120).returncode and not self.stops.is_set():
                self.repeats += 1
                self.stops.wait(0.2)
            if second % 60 == 59:
                # An operator looks through dead jobs, and deletes them.
                self.program.run("jobs", "delete", "--state", "dead", "--yes", check=False, seconds=60)

    def ask(self, number):
        """A client of the gateway, with a connection that lives."""
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        while not self.stops.wait(0.2):
            number += 4
            url = self.load.url(number, number * 7 % 90, 0)
            try:
                client.request("GET", f"/v1/fetch?url={url}")
                answer = client.getresponse()
                answer.read()
                self.answers[answer.status] += 1
            except (OSError, http.client.HTTPException) as error:
                self.answers[type(error).__name__] += 1
                client.close()

    # The faults

    def redis_killed(self, random):
        self.node.stop(hard=True)
        time.sleep(seconds := random.uniform(0, 8))
        self.node.start()
        self.node.wait()
        return f"{seconds:.1f} s"

    def redis_stopped(self, random):
        return self.stopped(self.node.process, random.uniform(0.5, 8))

    def clients_paused(self, random):
        milliseconds = random.randint(200, 3000)
        self.node.call("CLIENT", "PAUSE", milliseconds, "ALL")
        time.sleep(milliseconds / 1000)
        return f"{milliseconds} ms"

    def connections_killed(self, random):
        self.node.call("CLIENT", "KILL", "SKIPME", "yes")

    def scripts_flushed(self, random):
        self.node.call("SCRIPT", "FLUSH", "SYNC")

    def origin_killed(self, random):
        end(self.origin.process)
        time.sleep(seconds := random.uniform(0, 5))
        self.origin.start()
        return f"{seconds:.1f} s"

    def origin_stopped(self, random):
        """Longer than half of `--timeout`, so that requests time out."""
        return self.stopped(self.origin.process, random.uniform(1, 8))

    def worker_killed(self, random):
        end(self.victim)
        self.victim = self.work("victim")

    def stopped(self, process, seconds):
        os.killpg(process.pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGCONT)
        return f"{seconds:.1f} s"

    def disturb(self, begun):
        kinds = [self.redis_killed, self.redis_stopped, self.clients_paused, self.connections_killed, self.scripts_flushed]
        kinds += [self.origin_killed, self.origin_stopped, self.worker_killed]

        def noted(kind):
            def fault(random):
                self.faults.append((time.monotonic() - begun) / 60)
                return kind(random)

            fault.__name__ = kind.__name__
            return fault

        Plan(self.seed, [noted(kind) for kind in kinds], PAUSE).run(0, lambda: time.monotonic() < begun + self.seconds, self.check)

    def check(self):
        for name, process in self.processes.items():
            if process.poll() is not None:
                sys.exit(f"soak: {name} has ended with {process.returncode}: {(self.folder / name.replace(' ', '')).read_text(errors='replace')[-500:]}")

    # The look

    def sample(self, series, begun):
        """Looks at all of them 720 times in an hour, and once a second at most. A server that is away has no sample."""
        every, second = max(1, self.seconds // 720), 0
        while second < self.seconds and not self.stops.wait(max(0, begun + second - time.monotonic())):
            for each in series:
                try:
                    each.add(second, *self.look(each.name))
                except (OSError, KeyError):
                    pass
            second += every

    def look(self, name):
        if name == "Redis' data":
            return int(self.node.info("INFO", "memory")["used_memory"]), None
        pid = (self.node.process if name == "redis-server" else self.processes[name]).pid
        return record.memory_of(pid), record.descriptors_of(pid)

    def run(self):
        """All series, and what is wrong besides growth."""
        self.start()
        series = [record.Series(name) for name in self.processes]
        series += [record.Series("redis-server", is_bounded=False), record.Series("Redis' data")]
        begun = time.monotonic()
        calls = [(self.produce,), (self.sample, series, begun), *((self.ask, number) for number in range(4))]
        threads = [threading.Thread(target=call[0], args=call[1:], daemon=True) for call in calls]
        for thread in threads:
            thread.start()
        self.disturb(begun)
        for thread in threads[:2]:
            thread.join(180)
        return series, self.settle()

    def settle(self):
        """Nothing breaks any more: all jobs end, `doctor` finds nothing, and all processes end in good order."""
        wrong, latest = [], time.monotonic() + 180
        while True:
            self.check()
            self.totals = self.program.totals()
            if self.totals and self.totals["done"] + self.totals["failed"] + self.totals["cancelled"] == self.totals["enqueued"]:
                break
            if time.monotonic() > latest:
                wrong.append(f"jobs do not end: {json.dumps(self.program.status())[:700]}")
                break
            time.sleep(0.5)
        self.stops.set()
        findings = json.loads(self.program.run("doctor", "--json", check=False, seconds=120).stdout)["findings"]
        # Bodies make room for others all the time.
        if findings := [finding for finding in findings if finding["kind"] != "bodyEvicted"]:
            wrong.append(f"doctor finds {findings}")
        for name, process in self.processes.items():
            process.send_signal(signal.SIGTERM)
            # The library's process listens to no signal.
            if process.wait(60) not in ([-signal.SIGTERM] if name == "library" else [0]):
                wrong.append(f"{name} ended with {process.returncode}")
        if self.answers[200] < sum(self.answers.values()) / 2:
            wrong.append(f"the gateway's answers were {dict(self.answers)}")
        return wrong


def row(*cells):
    print(f"| {' | '.join(map(str, cells))} |")


def megabytes(count):
    return f"{count / 1e6:.1f} MB"


def report(soak, series, wrong):
    """Prints the tables. True when something has grown or is wrong."""
    totals = soak.totals
    print(f"\n`MINUTES={soak.seconds // 60} SEED={soak.seed} make soak`: {len(soak.faults)} faults, {soak.repeats} calls of `enqueue` made again,")
    print(f"and the gateway answered {', '.join(f'{status}: {count:,}' for status, count in sorted(soak.answers.items(), key=str))}\n")
    kinds = ["enqueued", "fetched", "revalidated", "cached", "failed", "crashed", "retried", "doubleFetches"]
    row("enqueued", "fetched", "unchanged", "there already", "failed", "crashes", "retries", "double fetches")
    row(*["---:"] * len(kinds))
    row(*(f"{totals[kind]:,}" for kind in kinds))
    print("\nMedians of the first quarter after warming up, and of the last quarter\n")
    row("process", "memory", "at the end", "growth", "descriptors", "at the end", "verdict")
    row("---", "---:", "---:", "---:", "---:", "---:", "---")
    grown = [each.name for each in series if each.has_grown(soak.seconds)]
    for each in series:
        memory, descriptors = (each.quarters(column, soak.seconds) for column in (1, 2))
        cells = [megabytes(memory[0]), megabytes(memory[1]), ("-" if memory[1] < memory[0] else "+") + megabytes(abs(memory[1] - memory[0]))]
        cells += [f"{count:.0f}" for count in descriptors] if descriptors else ["–", "–"]
        row(each.name, *cells, "has grown" if each.name in grown else "good" if each.is_bounded else "good; its memory is not judged")
    (part, amount), (_, count) = record.MEMORY, record.DESCRIPTORS
    print(f"\nMemory has grown where it is more by {part:.0%} and {megabytes(amount)}, and descriptors where they are more by {part:.0%} and {count}.")
    for sentence in wrong:
        print(f"wrong: {sentence}")
    return bool(grown or wrong)


def write(folder, soak, series):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "soak.csv").write_text(record.table_of(series))
    panels = [("memory in MB", {each.name: each.points(1, 1e6) for each in series})]
    panels.append(("open files and connections", {each.name: each.points(2) for each in series if each.points(2)}))
    title = f"Memory and descriptors over {soak.seconds // 60} minutes of load and faults"
    picture = line_picture.picture(title, "minutes; each tick is a fault", [each.name for each in series], panels, soak.faults)
    (folder / "soak.svg").write_text(picture)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("minutes", type=int)
    parser.add_argument("folder", type=pathlib.Path, help="gets the table of all samples and the picture")
    parser.add_argument("--gannet", required=True, help="the program")
    parser.add_argument("--reader", help="ProductBenchmark, which has a program with the library")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    options = parser.parse_args()
    for number in [signal.SIGTERM, signal.SIGHUP]:
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gannet-soak-"))
    # nginx answers as a user without rights.
    folder.chmod(0o755)
    soak = Soak(options, folder)
    say(f"the plan of seed {soak.seed}; logs are in {folder}")
    try:
        series, wrong = soak.run()
    finally:
        soak.end()
    write(options.folder, soak, series)
    is_wrong = report(soak, series, wrong)
    if not wrong:
        shutil.rmtree(folder)
    return 1 if is_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
