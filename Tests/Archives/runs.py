#!/usr/bin/env python3
"""`gannet run --output-format warc`, and `enqueue --keep-wire` with `export`, against a real nginx, and their archives in the hands of warcio and pywb.

  runs.py GANNET [URLS [KILLS [SEED]]]

- The origin redirects, fails, compresses, sends chunks, and speaks HTTP/2.
- Each row of the manifest ends as expected, and its place in an archive has the answer of its URL.
- `warcio check` accepts all files. Each exchange of each URL is there, byte for byte, with its request.
- pywb replays each URL with the same bytes.
- The same command again fetches nothing; without one of its archives it fetches the URLs of that archive alone.
- All of that holds for a batch that a worker has fetched and an export has written, also after kills of the export.
- After each `kill -9` at a random moment each row that the journal has is whole in an archive. The run after the last kill completes all.

Ends with 0 when all of that holds. The seed is printed.
"""

from gevent.monkey import patch_all

patch_all()

import contextlib
import glob
import gzip
import hashlib
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "Servers"))

import trial
from folder_run import FolderRun
from trial import problem, problems, say

AGENT = "trial/1.0"
HOSTS = ["127.0.0.%d" % number for number in range(1, 5)]
LONGEST_OTHER = 1_000_000
# Of an archive, for each URL: small enough for several archives.
SIZE = 500


# MARK: the origin


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Origin:
    """An nginx with made-up files, and what each URL of it leads to."""

    def __init__(self, folder, rng):
        self.folder, self.rng = folder, rng
        self.bodies = {}
        for name in ("plain", "packed", "chunked", "squeezed"):
            os.makedirs("%s/files/%s" % (folder, name))
        self.certificate()
        for _ in range(5):
            self.port, self.tls_port = free_port(), free_port()
            open(folder + "/nginx.conf", "w").write(self.configuration())
            self.process = subprocess.Popen(
                ["nginx", "-p", folder + "/", "-c", folder + "/nginx.conf", "-e", folder + "/errors"], stderr=subprocess.DEVNULL
            )
            while self.process.poll() is None:
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port)):
                    return
                time.sleep(0.05)
        raise SystemExit("nginx does not start: " + open(folder + "/errors").read())

    def certificate(self):
        names = ",".join("IP:" + host for host in HOSTS)
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=trial"]
            + ["-addext", "subjectAltName=" + names, "-keyout", self.folder + "/key", "-out", self.folder + "/certificate"],
            check=True,
            capture_output=True,
        )

    def configuration(self):
        listen = "".join("listen %s:%d; listen %s:%d ssl http2;" % (host, self.port, host, self.tls_port) for host in HOSTS)
        return """
            %s
            daemon off; pid %s/pid; worker_processes 1;
            events { worker_connections 1024; }
            http {
                access_log off; default_type text/html; keepalive_requests 100000;
                server {
                    %s
                    ssl_certificate %s/certificate; ssl_certificate_key %s/key;
                    root %s/files;
                    location /packed/ { gzip_static always; }
                    location /squeezed/ { gzip on; gzip_min_length 1; gzip_comp_level 1; }
                    location /chunked/ { sub_filter never-there-%d x; }
                    location ~ ^/moved/(.*)$ { return 301 $scheme://$host:$server_port/plain/$1; }
                    location ~ ^/twice/(.*)$ { return 302 /moved/$1; }
                    location /broken/ { return 500 "it is broken"; }
                    location /huge/ { error_page 403 /huge.bin; return 403; }
                    location = /huge.bin { internal; }
                }
            }
        """ % ("user root;" if os.geteuid() == 0 else "", self.folder, listen, self.folder, self.folder, self.folder, self.rng.randrange(1 << 30))

    def make(self, count):
        """URLs, each with its exchanges: (URL, status, body without its content coding, content coding)."""
        rng = self.rng
        open(self.folder + "/files/huge.bin", "wb").write(rng.randbytes(LONGEST_OTHER + 234_567))
        huge = open(self.folder + "/files/huge.bin", "rb").read()
        expected = {}
        for number in range(count):
            secure = rng.random() < 0.3
            origin = "%s://%s:%d" % ("https" if secure else "http", rng.choice(HOSTS), self.tls_port if secure else self.port)
            kind = rng.choice(["plain"] * 6 + ["packed"] * 3 + ["chunked"] * 3 + ["squeezed"] * 3 + ["moved"] * 3 + ["twice"] * 2 + ["missing", "broken"] + ["huge"] * (number % 50 == 0))
            size = rng.choice([0, 1, rng.randrange(2000), rng.randrange(20_000), rng.randrange(20_000), rng.randrange(400_000) if number % 20 == 0 else 300])
            name = "%d.html" % number
            # Some bodies come several times.
            seed = random.Random(number if rng.random() < 0.9 else number % 7)
            body = b"<p>" + bytes(seed.choices(b"abcdef <>\n\r\0\xff", k=size)) if size else b""
            place = {"moved": "plain", "twice": "plain"}.get(kind, kind)
            if place in ("plain", "chunked", "squeezed"):
                open("%s/files/%s/%s" % (self.folder, place, name), "wb").write(body)
            elif place == "packed":
                open("%s/files/packed/%s.gz" % (self.folder, name), "wb").write(gzip.compress(body, 9, mtime=0))
            url = "%s/%s/%s" % (origin, kind, name)
            plain = ("%s/plain/%s" % (origin, name), 200, body, "")
            moved = ("%s/moved/%s" % (origin, name), 301, None, "")
            expected[url] = {
                "plain": [plain],
                "moved": [moved, plain],
                "twice": [(url, 302, None, ""), moved, plain],
                "missing": [(url, 404, None, "")],
                "broken": [(url, 500, b"it is broken", "")],
                "huge": [(url, 403, huge[:LONGEST_OTHER], "")],
            }.get(kind, [(url, 200, body, "gzip" if kind in ("packed", "squeezed") else "")])
        return expected

    def stop(self):
        self.process.terminate()
        self.process.wait()


# MARK: runs


class Runs(FolderRun):
    information = ("software: gannet/", "http-header-user-agent: " + AGENT, "robots: obey", "format: WARC File Format 1.1")

    def __init__(self, gannet, origin, urls, redis):
        self.folder = tempfile.mkdtemp(dir=trial.SCRATCH)
        self.list = self.folder + ".txt"
        open(self.list, "w").write("".join(url + "\n" for url in urls))
        self.command = [gannet, "run", "-i", self.list, "-d", self.folder, "--output-format", "warc", "--archive-size", str(max(100_000, SIZE * len(urls))), "--redis", redis]
        self.command += ["--allow-net", "127.0.0.0/8", "--ca-file", origin.folder + "/certificate", "--retries", "0", "--host-limit", "32"]
        self.command += ["--user-agent", AGENT, "--header", "Authorization: Bearer secret", "--header", "X-Api-Key: secret", "--max-failures", "100%"]
        super().__init__(self.folder, self.command, problem)

    def journal(self):
        """The places of the latest record of each URL."""
        latest = {}
        with contextlib.suppress(FileNotFoundError):
            for line in open(self.folder + "/.gannet/journal", "rb").read().split(b"\n")[1:-1]:
                fields = line.decode().split("\t")
                latest[fields[0]] = fields[6]
        return [place for place in latest.values() if place]


class Exports(Runs):
    """A worker fetches the list with `--keep-wire`, and an export writes it."""

    information = ("software: gannet/", "robots: obey", "format: WARC File Format 1.1")

    def __init__(self, gannet, origin, urls, redis):
        super().__init__(gannet, origin, urls, redis)
        connection = ["--redis", redis]
        self.enqueue = [gannet, "enqueue", "-i", self.list, "--batch", "kept", "--keep-wire", "--header", "Authorization: Bearer secret", "--header", "X-Api-Key: secret"] + connection
        self.work = [gannet, "work", "--until-empty", "--allow-net", "127.0.0.0/8", "--ca-file", origin.folder + "/certificate", "--retries", "0", "--host-limit", "32"]
        self.work += ["--user-agent", AGENT, "--cache-limit", "2GB"] + connection
        self.command = [gannet, "export", "--batch", "kept", "-i", self.list, "-d", self.folder, "--output-format", "warc"]
        self.command += ["--archive-size", str(max(100_000, SIZE * len(urls)))] + connection

    def fetch(self):
        for command in (self.enqueue, self.work):
            result = subprocess.run(command, capture_output=True, text=True)
            if result.returncode:
                self.problem("%s has ended with %d: %s" % (command[1], result.returncode, result.stderr[-1000:]))

    def run(self):
        result = subprocess.run(self.command, capture_output=True, text=True)
        # Some rows have failed, and their answers are archived all the same.
        if result.returncode != 1:
            self.problem("export has ended with %d: %s" % (result.returncode, result.stderr[-1000:]))
        return result.stdout.strip()


# MARK: looks


def member_at(folder, place):
    """The record at a place of the journal or the manifest, unpacked. The archive may still be open."""
    name, offset = place.rsplit("@", 1)
    path = "%s/%s" % (folder, name)
    if not os.path.exists(path):
        path += ".open"
    with open(path, "rb") as file:
        file.seek(int(offset))
        unpacker = zlib.decompressobj(31)
        record = b""
        while not unpacker.eof:
            data = file.read(65536)
            if not data:
                raise EOFError("the record at %s is cut off" % place)
            record += unpacker.decompress(data)
        return record


def look_at_archives(folder, expected, complain, repeats=False, information=Runs.information):
    """Compares all records with the exchanges that the URLs lead to. Returns the raw body of each answer, by URL."""
    from warcio.archiveiterator import ArchiveIterator

    wanted = {exchange[0]: exchange for exchanges in expected.values() for exchange in exchanges}
    counts = {url: 0 for url in wanted}
    # A URL that is listed and that a redirect leads to is fetched for each.
    most = {url: 0 for url in wanted}
    for exchanges in expected.values():
        for exchange in exchanges:
            most[exchange[0]] += 1
    ids, raw, kinds = {}, {}, {}
    for path in trial.files(folder):
        # Each archive stands for itself.
        by_digest = {}
        with open(path, "rb") as stream:
            for record in ArchiveIterator(stream):
                fields, kind = record.rec_headers, record.rec_type
                kinds[kind] = kinds.get(kind, 0) + 1
                if kind == "warcinfo":
                    text = record.raw_stream.read()
                    for line in information:
                        if line.encode() not in text:
                            complain("a warcinfo record has no %r" % line)
                    continue
                url = fields.get_header("WARC-Target-URI")
                if url not in wanted:
                    complain("a record of an unknown URL: %s" % url)
                    continue
                _, status, body, coding = wanted[url]
                secure = url.startswith("https:")
                if fields.get_header("WARC-Protocol") != ("h2" if secure else "http/1.1"):
                    complain("%s: the protocol %s" % (url, fields.get_header("WARC-Protocol")))
                if fields.get_header("WARC-IP-Address") != url.split("/")[2].split(":")[0]:
                    complain("%s: the address %s" % (url, fields.get_header("WARC-IP-Address")))
                if kind == "request":
                    head = record.http_headers
                    if ids.pop(fields.get_header("WARC-Concurrent-To"), None) != url:
                        complain("%s: a request without its answer" % url)
                    if head.get_header("User-Agent") != AGENT or head.get_header("Authorization") or head.get_header("X-Api-Key"):
                        complain("%s: the request %r" % (url, head.headers))
                    if head.protocol != "GET" or "/" + url.split("/", 3)[3] not in head.statusline or head.get_header("Host") != url.split("/")[2]:
                        complain("%s: the request line %r %r" % (url, head.protocol, head.statusline))
                    continue
                ids[fields.get_header("WARC-Record-ID")] = url
                counts[url] += 1
                head = record.http_headers
                if head.get_statuscode() != str(status):
                    complain("%s: status %s, not %d" % (url, head.get_statuscode(), status))
                if head.headers[0][0].lower() != "server" or not head.get_header("Date"):
                    complain("%s: the fields %r" % (url, head.headers))
                if (fields.get_header("WARC-Truncated") or "") != ("length" if status == 403 else ""):
                    complain("%s: truncated: %s" % (url, fields.get_header("WARC-Truncated")))
                if "/chunked/" in url and not secure and kind == "response" and body and not head.get_header("X-Archive-Orig-Transfer-Encoding"):
                    complain("%s: did not come in chunks: %r" % (url, head.headers))
                digest = fields.get_header("WARC-Payload-Digest")
                if kind == "revisit":
                    if digest not in by_digest:
                        complain("%s: a revisit of nothing" % url)
                    data = by_digest.get(digest, b"")
                else:
                    data = record.raw_stream.read()
                    by_digest[digest] = data
                    if digest != "sha256:" + hashlib.sha256(data).hexdigest():
                        complain("%s: another digest" % url)
                if (head.get_header("Content-Encoding") or "") != coding and data:
                    complain("%s: the coding %s" % (url, head.get_header("Content-Encoding")))
                plain = gzip.decompress(data) if coding and data else data
                if body is not None and plain != body:
                    complain("%s: %d bytes, not the %d of the file" % (url, len(plain), len(body)))
                if body is None and b"nginx" not in plain:
                    complain("%s: the page %r" % (url, plain[:100]))
                raw[url] = data
    if ids:
        complain("%d answers have no request" % len(ids))
    for url, count in counts.items():
        # A redirect before the end of an archive is written again behind it.
        if count < min(1, most[url]) or not repeats and not most[url] <= count <= most[url] + 1:
            complain("%s is %d times in the archives, not %d" % (url, count, most[url]))
    return raw, kinds


def look_at_manifest(runs, expected, complain):
    rows = runs.manifest()
    if [row["url"] for row in rows] != list(expected):
        complain("the manifest has other rows")
    for row in rows:
        url, status, body, _ = expected[row["url"]][-1]
        if (row["outcome"] in ("fetched", "cached")) != (status == 200) or row["httpStatus"] != status:
            complain("the row %r" % row)
        if status == 200 and (row["bytes"] != len(body) or row["sha256"] != hashlib.sha256(body).hexdigest()):
            complain("another body: the row %r" % row)
        if not row["file"]:
            complain("the row %r has no place" % row)
            continue
        record = member_at(runs.folder, row["file"])
        if b"WARC-Target-URI: %s\r\n" % url.encode() not in record or b"\r\nHTTP/1.1 %d " % status not in record:
            complain("the place of the row %r has %r" % (row, record[:300]))


def replay(folder, expected, raw, complain):
    class Exchange:
        pass

    made = []
    for number, exchange in enumerate({exchange[0]: exchange for exchanges in expected.values() for exchange in exchanges}.values()):
        one = Exchange()
        one.number, one.url, status, one.kind = number, exchange[0], exchange[1], exchange[0].split("/")[3]
        one.status, one.timestamp, one.body = b"HTTP/1.1 %d" % status, "2", raw.get(exchange[0], b"")
        one.fields = [(b"Content-Encoding", exchange[3].encode())] if exchange[3] else []
        # Of a cut body, pywb has what is there.
        made.append(one)
    trial.replay(folder, made, complain)
    return len(made)


def look(runs, expected, repeats=False, replays=True, complain=problem):
    for line in trial.warcio_check(runs.folder)[:5]:
        complain("warcio check: " + line)
    raw, kinds = look_at_archives(runs.folder, expected, complain, repeats, runs.information)
    look_at_manifest(runs, expected, complain)
    trial.compare_index(runs.folder, complain)
    left = [name for name in os.listdir(runs.folder) if name.endswith(".open") or name.startswith(".gannet-") and name != ".gannet-lock"]
    if left:
        complain("files are left: %r" % left)
    replayed = replay(runs.folder, expected, raw, complain) if replays else 0
    return kinds, replayed


# MARK: planted damage


def planted(runs, expected):
    """Each look finds damage in a copy."""

    class Copy:
        manifest = Runs.manifest
        information = Runs.information

        def __init__(self):
            self.folder = tempfile.mkdtemp(dir=trial.SCRATCH)
            shutil.copytree(runs.folder, self.folder, dirs_exist_ok=True)

        def repack(self, change):
            """Changes unpacked records of the first archive, until `change` has made another of one."""
            path = trial.files(self.folder)[0]
            data, packed, done = open(path, "rb").read(), b"", False
            while data:
                unpacker = zlib.decompressobj(31)
                record = unpacker.decompress(data)
                data = unpacker.unused_data
                other = record if done else change(record)
                done = done or other != record
                packed += gzip.compress(other) if other else b""
            assert done
            open(path, "wb").write(packed)

    def expect(what, change):
        copy, found = Copy(), []
        change(copy)
        try:
            look(copy, expected, replays=False, complain=found.append)
        except Exception as error:
            found.append(repr(error))
        if not found:
            problem("no look has found " + what)

    def swapped(copy):
        rows = copy.manifest()
        places = [number for number, row in enumerate(rows) if row["file"]]
        rows[places[0]]["file"] = rows[places[-1]]["file"]
        open(copy.folder + "/manifest.jsonl", "w").write("".join(json.dumps(row) + "\n" for row in rows))

    expect("a missing request", lambda copy: copy.repack(lambda record: b"" if b"WARC-Type: request" in record else record))
    expect("another body", lambda copy: copy.repack(lambda record: record.replace(b"<p>", b"<P>", 1) if b"WARC-Type: response" in record else record))
    expect("another protocol", lambda copy: copy.repack(lambda record: record.replace(b"WARC-Protocol: h2", b"WARC-Protocol: h3")))
    expect("a secret", lambda copy: copy.repack(lambda record: record.replace(b"Accept: */*", b"X-Api-Key:s") if b"WARC-Type: request" in record else record))
    expect("a missing archive", lambda copy: os.remove(trial.files(copy.folder)[-1]))
    expect("another place in the manifest", swapped)


# MARK: all


def main(gannet, count, kills, seed):
    say("seed %d" % seed)
    rng = random.Random(seed)
    folder = tempfile.mkdtemp(dir=trial.SCRATCH)
    origin = Origin(folder, rng)
    redis = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", folder + "/redis.sock", "--save", "", "--dir", folder], stdout=subprocess.DEVNULL)
    try:
        expected = origin.make(count)
        runs = Runs(gannet, origin, expected, "unix://" + folder + "/redis.sock")
        begun = time.monotonic()
        say(runs.run())
        seconds = time.monotonic() - begun
        kinds, replayed = look(runs, expected)
        say("%d URLs in %.1f s; records: %s; pywb has replayed %d" % (count, seconds, kinds, replayed))

        planted(runs, expected)
        say("planted damage is found")
        fetched = sum(exchanges[-1][1] == 200 for exchanges in expected.values())
        sentence = runs.run()
        if "%d there already" % fetched not in sentence:
            problem("the same command again says: " + sentence)
        lost = sorted(trial.files(runs.folder))[0]
        os.remove(lost)
        os.remove(lost[: -len(".warc.gz")] + ".cdxj")
        sentence = runs.run()
        again = sum(row["outcome"] == "fetched" for row in runs.manifest())
        if not sentence.startswith("%d URL" % again) or not 0 < again < fetched:
            problem("without its first archive the run says: " + sentence)
        look(runs, expected, repeats=True, replays=False)
        place = runs.command.index("--archive-size")
        other = [word if word != "warc" else "files" for word in runs.command[:place] + runs.command[place + 2 :]]
        other = subprocess.run(other, capture_output=True, text=True)
        if other.returncode != 64 or "was begun with '--output-format warc'" not in other.stderr:
            problem("another format in the folder: %d: %s" % (other.returncode, other.stderr))
        say("the other format is refused: " + other.stderr.strip())

        exports = Exports(gannet, origin, expected, "unix://" + folder + "/redis.sock")
        exports.fetch()
        killed = sum(exports.kill_after(rng.uniform(0.2, 0.4 + seconds / 10)) for _ in range(kills))
        say(exports.run())
        kinds, replayed = look(exports, expected, repeats=True)
        say("exported after %d kills at work; records: %s; pywb has replayed %d" % (killed, kinds, replayed))

        runs = Runs(gannet, origin, expected, "unix://" + folder + "/redis.sock")
        at_work, torn = 0, 0
        for number in range(kills):
            at_work += runs.kill_after(rng.uniform(0.2, 0.6 + seconds * 1.6 / kills))
            for place in runs.journal():
                try:
                    member_at(runs.folder, place)
                except Exception as error:
                    problem("kill %d: the journal has %s: %r" % (number, place, error))
            for line in trial.warcio_check(runs.folder)[:3] if trial.files(runs.folder) else []:
                problem("kill %d: warcio check: %s" % (number, line))
            torn += bool(glob.glob(runs.folder + "/*.open"))
        say(runs.run())
        kinds, replayed = look(runs, expected, repeats=True)
        say("%d kills, %d at work, %d left an open file; records: %s; pywb has replayed %d" % (kills, at_work, torn, kinds, replayed))
    finally:
        redis.terminate()
        redis.wait()
        origin.stop()
    if problems:
        say("%d problems, seed %d" % (len(problems), seed))
    return 1 if problems else 0


if __name__ == "__main__":
    words = sys.argv[1:] + [None] * 4
    with tempfile.TemporaryDirectory() as trial.SCRATCH:
        status = main(
            os.path.abspath(words[0]), int(words[1] or 1000), int(words[2] or 10), int(words[3] or random.randrange(1 << 30))
        )
    sys.exit(status)
