#!/usr/bin/env python3
"""`gannet run` is ended in every way at many moments, and the same command then completes it.

  ends.py GANNET TABLES [--moments N] [--seed N] [--format NAME …] [--way NAME …]

A list has URLs that answer at once, slowly, with 404 and not at all, one twice, and one row that is no URL. TABLES is a Python with pyarrow.
After each end:

- the exit status is one of those that the way may have (a Redis that is killed is followed by Ctrl-C);
- the manifest has each row of the list in its order;
- a row with a body names a file, a sample or a record with these bytes;
- a row that has not ended is `pending`, or has failed as `unfinished`;
- webdataset, warcio and pyarrow open every file that is there, half-written ones that a kill has left excepted;
- the silent host then answers, and the same command completes the list: each body is there once.

After a kill, and where the disk is full, an earlier manifest may stay or none may be there. Ends with 0 when all of that holds.
"""

import argparse
import glob
import hashlib
import http.server
import json
import os
import pathlib
import pty
import random
import select
import shutil
import signal
import socketserver
import subprocess
import sys
import tempfile
import threading
import time

FORMATS = {
    "files": [],
    "shards": ["--output-format", "shards", "--samples-per-shard", "6"],
    "warc": ["--output-format", "warc", "--archive-size", "100kB"],
    "parquet": ["--manifest-format", "parquet"],
}
# How a run is ended, and the exit statuses that it may have then. 0 and 1 are those of a run that was done before.
WAYS = {
    "int": {130}, "term": {143}, "hup": {143}, "int-twice": {130}, "kill": {-9}, "deadline": {1}, "key": {1}, "finish": {1}, "drain": {1},
    "redis": {130, 69}, "disk": {74, 130},
}
WITHOUT_MANIFEST = {"kill", "int-twice", "disk"}
SILENT = 2
problems = []


def say(sentence):
    print("ends: " + sentence, flush=True)


class Origin(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """Answers with the path's bytes. The URLs of the silent address wait until it is opened."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self):
        self.opened = threading.Event()
        super().__init__(("127.0.0.1", 0), Answer)
        self.port = self.server_address[1]
        self.silent = SilentOrigin(self)
        for server in (self, self.silent):
            threading.Thread(target=server.serve_forever, daemon=True).start()

    def handle_error(self, request, address):
        pass


class SilentOrigin(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, origin):
        self.origin = origin
        super().__init__(("127.0.0.2", origin.port), Answer)

    def handle_error(self, request, address):
        pass


def body(path):
    return (hashlib.sha256(path.encode()).digest() * 40)[: 100 + len(path) * 37]


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        origin = getattr(self.server, "origin", None)
        if origin is not None:
            origin.opened.wait(60)
        if "slow" in self.path:
            time.sleep(0.15)
        content = body(self.path)
        self.send_response(404 if "gone" in self.path else 200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *words):
        pass


class Trial:
    """One end of one run."""

    def __init__(self, options, origin, form, way, moment, scratch):
        self.options, self.origin, self.form, self.way, self.moment = options, origin, form, way, moment
        self.scratch = scratch
        self.name = "%s, %s, %.2f s" % (form, way, moment)
        self.mounted = self.was_interrupted = False
        self.folder = scratch + "/out"
        host, silent = "http://127.0.0.1:%d" % origin.port, "http://127.0.0.2:%d" % origin.port
        urls = ["%s/%d" % (host, number) for number in range(20)] + ["%s/slow-%d" % (host, number) for number in range(16)]
        urls += ["%s/gone-%d" % (host, number) for number in range(3)] + ["%s/silent-%d" % (silent, number) for number in range(SILENT)]
        random.Random(7).shuffle(urls)
        self.list = urls[:5] + ["no url"] + urls[5:] + [urls[0]]
        self.bodies = {url: body("/" + url.rsplit("/", 1)[1]) for url in urls if "gone" not in url}
        pathlib.Path(scratch + "/list").write_text("".join(row + "\n" for row in self.list))
        self.redis_path = scratch + "/redis.sock"
        self.redis = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", self.redis_path, "--save", "", "--dir", scratch, "--logfile", scratch + "/redis.log"])
        self.command = [options.gannet, "run", "-i", scratch + "/list", "-d", self.folder, "--redis", "unix://" + self.redis_path]
        self.command += ["--allow-net", "127.0.0.0/8", "--robots", "ignore", "--retries", "0", "--host-patience", "30m", "--host-limit", "4"]
        self.command += ["--timeout", "20s", "--drain-timeout", "200ms"] + FORMATS[form]
        self.environment = dict(os.environ, PATH=os.path.dirname(options.tables) + ":" + os.environ["PATH"], HOME=scratch)

    def problem(self, sentence):
        problems.append(sentence)
        if len(problems) <= 40:
            say("%s: %s" % (self.name, sentence))

    def close(self):
        self.redis.kill()
        self.redis.wait()
        if self.mounted:
            subprocess.run(["umount", "-l", self.folder], check=False)

    def run(self):
        while not os.path.exists(self.redis_path):
            time.sleep(0.01)
        self.origin.opened.clear()
        status, text = self.end()
        # A signal that comes before the program has begun ends it as any other.
        early = {-signal.SIGINT, -signal.SIGTERM, -signal.SIGHUP} if self.moment < 0.3 else set()
        if self.was_interrupted:
            early.add(130)
        if status not in WAYS[self.way] | {0, 1} | early:
            self.problem("the exit status %r: %s" % (status, text[-400:]))
        self.look(text)
        self.complete()

    # The end

    def end(self):
        if self.way == "disk":
            os.mkdir(self.folder)
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%dk" % (24 + int(self.moment * 60)), "tmpfs", self.folder], check=True)
            self.mounted = True
        words = ["--deadline", "%dms" % max(1000, int(self.moment * 1000))] if self.way == "deadline" else []
        if self.way == "key":
            return self.end_by_key()
        with open(self.scratch + "/errors", "w") as errors:
            process = subprocess.Popen(self.command + words, stdout=subprocess.DEVNULL, stderr=errors, env=self.environment)
        if self.way not in ("deadline", "disk"):
            time.sleep(self.moment)
        self.act(process)
        if self.way == "disk":
            # A run that the full disk does not end is ended as a user would.
            try:
                process.wait(self.moment + 2)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
        return self.wait(process), pathlib.Path(self.scratch + "/errors").read_text()

    def wait(self, process):
        try:
            return process.wait(timeout=40)
        except subprocess.TimeoutExpired:
            self.problem("it does not end")
            process.kill()
            return process.wait()

    def act(self, process):
        if self.way in ("int", "int-twice"):
            process.send_signal(signal.SIGINT)
            if self.way == "int-twice":
                time.sleep(self.moment / 20)
                process.send_signal(signal.SIGINT)
        elif self.way == "term":
            process.send_signal(signal.SIGTERM)
        elif self.way == "hup":
            process.send_signal(signal.SIGHUP)
        elif self.way == "kill":
            process.kill()
        elif self.way == "redis":
            self.redis.kill()
            self.redis.wait()
            # A run waits five minutes for its Redis, which no user does.
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
        elif self.way == "finish":
            # Before the run has its folder there is nobody to ask.
            while self.ask([self.options.gannet, "run", "--finish", "-d", self.folder]).returncode and process.poll() is None:
                time.sleep(0.05)
        elif self.way == "drain":
            connection = ["--redis", "unix://" + self.redis_path]
            queues = json.loads(self.ask([self.options.gannet, "queues", "--json"] + connection).stdout or "{}").get("queues", [])
            for queue in queues:
                self.ask([self.options.gannet, "workers", "drain", "--all", "--queue", queue["queue"]] + connection)
            if not queues:
                process.send_signal(signal.SIGINT)
                self.was_interrupted = True

    def ask(self, words):
        return subprocess.run(words, capture_output=True, text=True, env=self.environment, timeout=60)

    def end_by_key(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(self.command[0], self.command, self.environment)
        text, begun, pressed = b"", time.monotonic(), False
        while True:
            ready, _, _ = select.select([terminal], [], [], 0.02)
            if ready:
                try:
                    more = os.read(terminal, 65536)
                except OSError:
                    break
                if not more:
                    break
                text += more
            # The screen says that the key is there.
            if not pressed and time.monotonic() - begun > self.moment and b"f ends" in text:
                os.write(terminal, b"f")
                pressed = True
            if time.monotonic() - begun > 40:
                self.problem("it does not end by the key")
                os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        return os.waitstatus_to_exitcode(status), text.decode(errors="replace")

    # The folder afterwards

    def look(self, text, whole=False):
        path = self.folder + "/manifest.jsonl"
        if not os.path.exists(path):
            # Before the list is read there is nothing to say.
            is_early = "the queue of this run is" not in text
            if whole or self.way not in WITHOUT_MANIFEST and not is_early:
                self.problem("there is no manifest: %s" % text[-300:])
            self.samples()
            self.records(None)
            return
        rows = [json.loads(line) for line in open(path)]
        if [row["url"] for row in rows] != self.list:
            self.problem("the manifest has %d rows, and not those of the list" % len(rows))
        samples, records = self.samples(), self.records(rows)
        seen = set()
        for row in rows:
            url, error = row["url"], row["error"]
            if row["outcome"] in ("fetched", "cached"):
                digest = hashlib.sha256(self.bodies.get(url, b"?")).hexdigest()
                if row["sha256"] != digest or self.bytes_of(row, samples, records) != self.bodies.get(url):
                    self.problem("the body of the row is not there: %r" % row)
                seen.add(url)
            elif row["outcome"] == "failed" and "gone" in url and error["class"] == "http-404":
                pass
            elif row["outcome"] == "invalid" and url == "no url":
                pass
            elif whole or (row["outcome"], error["class"]) not in (("pending", "pending"), ("failed", "unfinished")):
                self.problem("a row that should not be so: %r" % row)
        if self.form == "parquet" and os.path.exists(self.folder + "/manifest.parquet"):
            script = "import sys, json, pyarrow.parquet as pq; print(json.dumps(pq.read_table(sys.argv[1]).column('outcome').to_pylist()))"
            read = subprocess.run([self.options.tables, "-c", script, self.folder + "/manifest.parquet"], capture_output=True, text=True)
            if read.returncode or (whole and json.loads(read.stdout) != [row["outcome"] for row in rows]):
                self.problem("pyarrow does not read the table: %s" % (read.stderr or read.stdout)[-300:])
        elif self.form == "parquet" and whole:
            self.problem("there is no table")
        if whole and seen != set(self.bodies):
            self.problem("%d bodies are missing" % len(set(self.bodies) - seen))

    def bytes_of(self, row, samples, records):
        if self.form == "shards":
            return samples.get(row["file"])
        if self.form == "warc":
            return records.get(row["url"])
        try:
            return pathlib.Path(self.folder, row["file"]).read_bytes()
        except OSError as error:
            return str(error)

    def samples(self):
        if self.form != "shards":
            return {}
        import webdataset

        paths, found = sorted(glob.glob(self.folder + "/*.tar")), {}
        for sample in webdataset.WebDataset(paths, shardshuffle=False, empty_check=False) if paths else []:
            shard, key = os.path.basename(sample["__url__"]), sample["__key__"].split("/")[-1]
            figures = json.loads(sample["json"])
            endings = [name for name in sample if not name.startswith("__") and name != "json"]
            place = "%s/%s.%s" % (shard, key, endings[0])
            if sample[endings[0]] != self.bodies.get(figures["url"]) or any(name.split("/")[1] == place.split("/")[1] for name in found):
                self.problem("the sample %s is wrong, or there twice" % place)
            found[place] = sample[endings[0]]
        return found

    def records(self, rows):
        if self.form != "warc":
            return {}
        from warcio.archiveiterator import ArchiveIterator

        found = {}
        for path in sorted(glob.glob(self.folder + "/*.warc.gz")):
            with open(path, "rb") as file:
                for record in ArchiveIterator(file):
                    if record.rec_type == "response":
                        found[record.rec_headers.get_header("WARC-Target-URI")] = record.content_stream().read()
        return found

    def complete(self):
        if self.way == "redis":
            os.unlink(self.redis_path)
            self.redis = subprocess.Popen(self.redis.args)
            while not os.path.exists(self.redis_path):
                time.sleep(0.01)
        if self.mounted:
            subprocess.run(["mount", "-o", "remount,size=8m", self.folder], check=True)
        self.origin.opened.set()
        result = subprocess.run(self.command, capture_output=True, text=True, env=self.environment, timeout=120)
        if result.returncode != 1:
            self.problem("the same command ends with %d: %s" % (result.returncode, result.stderr[-400:]))
        self.look(result.stderr, whole=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gannet")
    parser.add_argument("tables", help="a Python with pyarrow")
    parser.add_argument("--moments", type=int, default=1)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--format", nargs="*", choices=FORMATS, default=list(FORMATS))
    parser.add_argument("--way", nargs="*", choices=WAYS, default=list(WAYS))
    options = parser.parse_args()
    options.gannet, options.tables = os.path.abspath(options.gannet), os.path.abspath(options.tables)
    say("seed %d" % options.seed)
    # A trial in the background ignores signals, and its children would too.
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    # They wait most of the time.
    threads = [threading.Thread(target=end_all, args=(form, options)) for form in options.format]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        say("%d problems, seed %d" % (len(problems), options.seed))
    return 1 if problems else 0


def end_all(form, options):
    rng, origin, count = random.Random("%d %s" % (options.seed, form)), Origin(), 0
    for way in options.way:
        for _ in range(options.moments):
            # From before the first request until all but the silent host have answered.
            moment = rng.uniform(0, 1.6)
            scratch = tempfile.mkdtemp(prefix="gannet-ends-")
            trial = Trial(options, origin, form, way, moment, scratch)
            try:
                trial.run()
            except Exception as error:  # a reader that does not read
                trial.problem("%s: %s" % (type(error).__name__, error))
            finally:
                trial.close()
                shutil.rmtree(scratch, ignore_errors=True)
            count += 1
    say("%s: %d ends" % (form, count))


if __name__ == "__main__":
    sys.exit(main())
