#!/usr/bin/env python3
"""`gannet run --output-format shards` against a real nginx, and its shards in the hands of webdataset.

  shards.py GANNET [URLS [KILLS [SEED]]]

- Each URL that can be fetched is one sample, with the bytes of the origin and its figures. The manifest names its place.
- A page that is served as a picture is no sample, so webdataset decodes all of them.
- The same command again fetches nothing and changes no byte of a shard. Without one shard it fetches the URLs of that shard alone.
- After each `kill -9` at a random moment all complete shards are whole, and no later run changes them. The run after the last kill completes the
  dataset, and the origin has had no request for a URL whose body was kept.

Ends with 0 when all of that holds. The seed is printed.
"""

import contextlib
import glob
import hashlib
import io
import json
import os
import pathlib
import random
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "Servers"))

from folder_run import FolderRun

problems = []
SAMPLES = 500
CONCURRENCY = 16


def problem(sentence):
    problems.append(sentence)
    if len(problems) <= 30:
        print("shards: " + sentence, flush=True)


def say(sentence):
    print("shards: " + sentence, flush=True)


def picture(rng):
    from PIL import Image

    file = io.BytesIO()
    kind = rng.choice(["JPEG", "PNG", "WEBP"])
    Image.new("RGB", (rng.randrange(1, 60), rng.randrange(1, 60)), tuple(rng.randbytes(3))).save(file, kind)
    return file.getvalue(), {"JPEG": "jpg", "PNG": "png", "WEBP": "webp"}[kind]


class Origin:
    """An nginx whose log has each request."""

    def __init__(self, folder):
        self.folder = folder
        os.mkdir(folder + "/files")
        for _ in range(5):
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.port = probe.getsockname()[1]
            with open(folder + "/nginx.conf", "w") as file:
                file.write(self.configuration())
            self.process = subprocess.Popen(
                ["nginx", "-p", folder + "/", "-c", folder + "/nginx.conf", "-e", folder + "/errors"], stderr=subprocess.DEVNULL
            )
            while self.process.poll() is None:
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
                    return
                time.sleep(0.05)
        raise SystemExit("nginx does not start: " + open(folder + "/errors").read())

    def configuration(self):
        # A picture's type is often told wrong: its bytes count.
        return """
            %s
            daemon off; pid %s/pid; worker_processes 1;
            events { worker_connections 1024; }
            http {
                log_format urls "$request_uri"; access_log %s/requests urls; keepalive_requests 100000;
                default_type application/octet-stream; types { text/html html; application/json json; text/plain jpg; image/jpeg png; }
                server { listen 127.0.0.1:%d; root %s/files; }
            }
        """ % ("user root;" if os.geteuid() == 0 else "", self.folder, self.folder, self.port, self.folder)

    def make(self, count, rng):
        """URLs, each with its body and the ending of its sample; None for one that cannot be fetched, or is a page served as a picture."""
        pictures = [picture(rng) for _ in range(200)]
        expected = {}
        for number in range(count):
            body, ending = rng.choice(pictures) if rng.random() < 0.8 else (rng.randbytes(rng.randrange(20_000)), rng.choice(["html", "bin"]))
            is_page = rng.random() < 0.02
            if is_page:
                body, ending = b"<!DOCTYPE html><title>gone</title>", "png"
            name = "%d.%s" % (number, ending if ending != "bin" else "x")
            url = "http://127.0.0.1:%d/%s" % (self.port, name)
            if rng.random() < 0.03:
                expected[url] = None
                continue
            with open("%s/files/%s" % (self.folder, name), "wb") as file:
                file.write(body)
            expected[url] = None if is_page else (body, ending)
        return expected

    def requests(self):
        with open(self.folder + "/requests") as file:
            return sum(1 for _ in file)

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Runs(FolderRun):
    def __init__(self, gannet, urls, redis, scratch):
        self.folder = tempfile.mkdtemp(dir=scratch)
        with open(self.folder + ".txt", "w") as file:
            file.write("".join(url + "\n" for url in urls))
        self.command = [gannet, "run", "-i", self.folder + ".txt", "-d", self.folder, "--output-format", "shards", "--samples-per-shard", str(SAMPLES)]
        self.command += ["--redis", redis, "--allow-net", "127.0.0.0/8", "--robots", "ignore", "--retries", "0", "--max-failures", "100%"]
        self.command += ["--concurrency", str(CONCURRENCY), "--host-limit", str(CONCURRENCY)]
        super().__init__(self.folder, self.command, problem)

    def kill_after_next_shard(self, seconds):
        """Kills a run so long after the next complete shard. Whether it was still at work."""
        before = set(glob.glob(self.folder + "/*.tar"))
        process = self.start()
        while process.poll() is None and set(glob.glob(self.folder + "/*.tar")) <= before:
            time.sleep(0.001)
        time.sleep(seconds)
        was_at_work = process.poll() is None
        process.kill()
        process.wait()
        return was_at_work

    def shards(self):
        """The digest of each complete shard."""
        digests = {}
        for path in sorted(glob.glob(self.folder + "/*.tar")):
            with open(path, "rb") as file:
                digests[os.path.basename(path)] = hashlib.file_digest(file, "sha256").hexdigest()
        return digests


def dataset(folder):
    import webdataset

    paths = sorted(glob.glob(folder + "/*.tar"))
    return webdataset.WebDataset(paths, shardshuffle=False, empty_check=False) if paths else None


def samples(folder):
    return list(dataset(folder) or [])


def look_at_samples(folder, expected, complain):
    """All samples of complete shards are whole, and come once. Returns their URLs."""
    seen = {}
    for sample in samples(folder):
        figures = json.loads(sample["json"])
        url, shard = figures["url"], os.path.basename(sample["__url__"])
        if figures["key"] != sample["__key__"].split("/")[-1]:
            complain("%s: another key in %r" % (sample["__key__"], figures))
        if url in seen:
            complain("%s is a sample twice" % url)
        body, ending = expected.get(url) or (None, None)
        if body is None or sample.get(ending) != body or len([key for key in sample if not key.startswith("__")]) != 2:
            complain("%s: another body in %s: %r" % (url, shard, list(sample)))
        elif figures["sha256"] != hashlib.sha256(body).hexdigest() or figures["bytes"] != len(body) or figures["httpStatus"] != 200:
            complain("%s: the figures %r" % (url, figures))
        seen[url] = "%s/%s.%s" % (shard, figures["key"], ending)
    return seen


def look(runs, expected, complain=problem):
    places = look_at_samples(runs.folder, expected, complain)
    wanted = {url for url, made in expected.items() if made}
    if set(places) != wanted:
        complain("%d URLs are missing in the shards, and %d are too many" % (len(wanted - set(places)), len(set(places) - wanted)))
    rows = runs.manifest()
    if [row["url"] for row in rows] != list(expected):
        complain("the manifest has other rows")
    for row in rows:
        if row["file"] != places.get(row["url"]):
            complain("the manifest names another place: %r" % row)
    try:
        for _ in dataset(runs.folder).decode("pil"):
            pass
    except Exception as error:
        complain("webdataset decodes not all samples: %r" % error)
    left = [name for name in os.listdir(runs.folder) if not name.endswith(".tar") and name not in ("manifest.jsonl", ".gannet", ".gannet-lock")]
    if left:
        complain("files are left: %r" % left[:5])
    return places


def planted(runs, expected):
    """The looks find damage."""
    path = sorted(glob.glob(runs.folder + "/*.tar"))[0]
    with open(path, "rb") as file:
        whole = file.read()
    for what, damage in [("a changed body", whole.replace(b'"bytes":', b'"bytez":', 1)), ("a missing shard", None)]:
        found = []
        if damage is None:
            os.remove(path)
        else:
            with open(path, "wb") as file:
                file.write(damage)
        try:
            look(runs, expected, found.append)
        except Exception as error:
            found.append(repr(error))
        with open(path, "wb") as file:
            file.write(whole)
        if not found:
            problem("no look has found " + what)


def main(gannet, count, kills, seed, scratch):
    say("seed %d" % seed)
    rng = random.Random(seed)
    origin = Origin(tempfile.mkdtemp(dir=scratch))
    redis = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", scratch + "/redis.sock", "--save", "", "--dir", scratch], stdout=subprocess.DEVNULL)
    try:
        expected = origin.make(count, rng)
        fetched = sum(made is not None for made in expected.values())
        runs = Runs(gannet, expected, "unix://" + scratch + "/redis.sock", scratch)
        begun = time.monotonic()
        say(runs.run())
        seconds = time.monotonic() - begun
        places = look(runs, expected)
        if origin.requests() != count:
            problem("%d requests for %d URLs" % (origin.requests(), count))
        planted(runs, expected)
        say("webdataset has read %d samples of %d shards; planted damage is found" % (len(places), len(runs.shards())))

        before = runs.shards()
        sentence = runs.run()
        if not sentence.startswith("0 URLs fetched, %d there already" % fetched) or runs.shards() != before:
            problem("the same command again: %s" % sentence)
        lost = sorted(before)[1]
        os.remove("%s/%s" % (runs.folder, lost))
        sentence = runs.run()
        again = sum(place.startswith(lost + "/") for place in places.values())
        if not sentence.startswith("%d URLs fetched, %d there already" % (again, fetched - again)):
            problem("without %s the run says: %s" % (lost, sentence))
        look(runs, expected)

        runs = Runs(gannet, expected, "unix://" + scratch + "/redis.sock", scratch)
        requests, at_work, between, complete = origin.requests(), 0, 0, {}
        for number in range(kills):
            # Packing is far quicker than fetching: half of the kills wait for it.
            if number < kills // 2:
                at_work += runs.kill_after(rng.uniform(0.2, 0.5 + seconds * 1.8 / kills))
            else:
                at_work += runs.kill_after_next_shard(rng.uniform(0, 0.03))
            look_at_samples(runs.folder, expected, lambda sentence: problem("kill %d: %s" % (number, sentence)))
            now = runs.shards()
            if any(now.get(name) != digest for name, digest in complete.items()):
                problem("kill %d: a complete shard has changed" % number)
            between += now != complete
            complete = now
        say(runs.run())
        places = look(runs, expected)
        if any(runs.shards().get(name) != digest for name, digest in complete.items()):
            problem("the last run has changed a complete shard")
        # Each run asks for the URLs that fail. Of the others it asks again for those that were under way at a kill.
        failed = count - fetched
        requests = origin.requests() - requests
        if requests > count + at_work * (CONCURRENCY + failed) + failed:
            problem("%d requests for %d URLs, of which %d fail, after %d kills" % (requests, count, failed, at_work))
        say("%d kills, %d at work, %d while shards were made; %d requests for %d URLs; %d samples in %d shards" % (kills, at_work, between, requests, count, len(places), len(runs.shards())))
    finally:
        redis.terminate()
        redis.wait()
        origin.stop()
    if problems:
        say("%d problems, seed %d" % (len(problems), seed))
    return 1 if problems else 0


if __name__ == "__main__":
    words = sys.argv[1:] + [None] * 4
    with tempfile.TemporaryDirectory() as scratch:
        status = main(os.path.abspath(words[0]), int(words[1] or 5000), int(words[2] or 10), int(words[3] or random.randrange(1 << 30)), scratch)
    sys.exit(status)
