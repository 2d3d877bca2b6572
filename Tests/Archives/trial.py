#!/usr/bin/env python3
"""Archives that Tests/Helper/Archives has written, in the hands of the programs that people read them with.

  trial.py WRITER [EXCHANGES [KILLS [SEED]]]

- `warcio check` accepts all files, and warcio reads back what an origin has sent, byte for byte.
- pywb's indexer makes the same index, and its replay answers with the same bytes.
- The keys of made-up URLs are those of the `surt` package.
- The `webdataset` package iterates the shards, and equal samples make equal files.
- After `kill -9` at random moments the next run completes the archive, and nothing that was reported as durable is missing.
- Damage that is planted into a copy is found by the comparisons above.

Ends with 0 when all of that holds. The seed is printed.
"""

# pywb waits in this way, and wants it before anything else is imported.
from gevent.monkey import patch_all

patch_all()

import contextlib
import glob
import gzip
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib

import exchanges as made_up

problems = []


def problem(sentence):
    problems.append(sentence)
    if len(problems) <= 20:
        print("trial: " + sentence, file=sys.stderr)


def say(sentence):
    print("trial: " + sentence, flush=True)


def writer(*words, **options):
    return subprocess.run([WRITER, "archives", *map(str, words)], check=True, capture_output=True, text=True, **options).stdout.splitlines()


def files(folder):
    return sorted(glob.glob(folder + "/*.warc.gz"))


# MARK: warcio


def warcio_check(folder):
    """The sentences of `warcio check`, none when all is well."""
    program = os.path.join(os.path.dirname(sys.executable), "warcio")
    result = subprocess.run([program, "check", *files(folder)], capture_output=True, text=True)
    return (result.stdout + result.stderr).splitlines() + (["exit status %d" % result.returncode] if result.returncode else [])


def expected_fields(exchange, body_count):
    """The fields as an archive has them: no field says a length or a coding that the record's body has not."""
    result = []
    for name, value in exchange.fields:
        lower = name.lower()
        isWrong = body_count is not None and (lower == b"transfer-encoding" or lower == b"content-length" and value != b"%d" % body_count)
        result.append(((b"X-Archive-Orig-" if isWrong else b"") + name, value))
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in result]


def read_back(folder, made, complain=problem):
    """Compares all records with the exchanges. Returns the kinds of records by the exchange's number."""
    from warcio.archiveiterator import ArchiveIterator

    by_place = {(exchange.url, exchange.date): exchange for exchange in made}
    found, requests, infos, ids = {}, set(), 0, {}
    for path in files(folder):
        # The exchanges whose bodies stand in this file, by these.
        originals = {}
        with open(path, "rb") as stream:
            for record in ArchiveIterator(stream):
                headers = record.rec_headers
                kind = record.rec_type
                if kind == "warcinfo":
                    infos += 1
                    if headers.get_header("WARC-Filename") != os.path.basename(path):
                        complain(path + ": a warcinfo record has another name")
                    continue
                exchange = by_place.get((headers.get_header("WARC-Target-URI"), headers.get_header("WARC-Date")))
                if exchange is None:
                    complain("%s: a record of an unknown URL: %s" % (path, headers.get_header("WARC-Target-URI")))
                    continue
                name = "exchange %d (%s)" % (exchange.number, exchange.kind)
                protocols = [value for key, value in headers.headers if key == "WARC-Protocol"]
                if ",".join(protocols) != exchange.protocols or headers.get_header("WARC-IP-Address") != exchange.address:
                    complain(name + ": another protocol or address")
                if kind == "request":
                    requests.add(exchange.number)
                    if record.http_headers.get_header("Authorization"):
                        complain(name + ": a secret is in the request")
                    if record.http_headers.get_header("User-Agent") != "trial":
                        complain(name + ": the request is another")
                    if ids.get(headers.get_header("WARC-Concurrent-To")) != exchange.number:
                        complain(name + ": its request names another response")
                    continue
                ids[headers.get_header("WARC-Record-ID")] = exchange.number
                status = exchange.status.split(b" ", 1)[1].strip().decode()
                if record.http_headers.statusline.strip() != status:
                    complain("%s: status %r, not %r" % (name, record.http_headers.statusline, status))
                count = None if exchange.kind == "unchanged" else len(exchange.body)
                got = [(key.encode("utf-8", "surrogateescape").decode("latin-1") if not key.isascii() else key, value) for key, value in record.http_headers.headers]
                if got != expected_fields(exchange, count):
                    complain("%s: fields %r, not %r" % (name, got, expected_fields(exchange, count)))
                if headers.get_header("WARC-Truncated") != (exchange.truncation or None):
                    complain(name + ": truncated otherwise")
                body = record.raw_stream.read()
                if kind == "response":
                    if body != exchange.body:
                        complain("%s: %d bytes of body, not the %d bytes that were sent" % (name, len(body), len(exchange.body)))
                    if headers.get_header("WARC-Payload-Digest") != made_up.digest(exchange.body):
                        complain(name + ": another digest")
                    if exchange.kind not in ("truncated", "redirect", "empty"):
                        if exchange.body in originals:
                            complain(name + ": its body is in the file before")
                        originals[exchange.body] = exchange
                elif kind == "revisit":
                    if body:
                        complain(name + ": a revisit with a body")
                    original = by_place.get((headers.get_header("WARC-Refers-To-Target-URI"), headers.get_header("WARC-Refers-To-Date")))
                    if exchange.kind == "unchanged":
                        if original is not None or not headers.get_header("WARC-Profile").endswith("/server-not-modified"):
                            complain(name + ": another revisit")
                    elif original is None or originals.get(exchange.body) is not original:
                        complain(name + ": a revisit of a record that is not in the file before it")
                else:
                    complain("%s: a record of type %s" % (name, kind))
                found.setdefault(exchange.number, []).append(kind)
    if infos != len(files(folder)):
        complain("%d warcinfo records in %d files" % (infos, len(files(folder))))
    for exchange in made:
        if exchange.number not in found:
            complain("exchange %d (%s) is missing" % (exchange.number, exchange.kind))
        elif exchange.request and exchange.number not in requests:
            complain("the request of exchange %d is missing" % exchange.number)
    return found


# MARK: pywb


def compare_index(folder, complain=problem):
    """Each index has the lines that pywb's indexer makes, in its order."""
    from pywb.indexer.archiveindexer import DefaultRecordParser
    from pywb.utils.canonicalize import canonicalize

    count = 0
    for path in files(folder):
        lines = open(path[: -len(".warc.gz")] + ".cdxj", "rb").read().splitlines()
        if lines != sorted(lines):
            complain(path + ": its index is not sorted")
        got = {}
        for line in lines:
            key, timestamp, fields = line.decode("ascii").split(" ", 2)
            fields = json.loads(fields)
            got[fields["offset"]] = (key, timestamp, fields)
        expected = {}
        for entry in DefaultRecordParser(cdxj=True, surt_ordered=True).open(path):
            fields = {name: entry[name] for name in ("url", "mime", "status", "digest", "length", "offset")}
            fields["filename"] = os.path.basename(path)
            expected[entry["offset"]] = (canonicalize(entry["url"]), entry["timestamp"], fields)
        if got != expected:
            different = [(got.get(offset), expected.get(offset)) for offset in {*got, *expected} if got.get(offset) != expected.get(offset)]
            complain("%s: %d lines of its index differ, such as %r" % (path, len(different), different[0]))
        count += len(lines)
    return count


def replay(folder, made, complain=problem):
    """Asks pywb in this process for each exchange."""
    import yaml

    place = tempfile.mkdtemp(dir=SCRATCH)
    before = os.getcwd()
    os.chdir(place)
    try:
        with open("config.yaml", "w") as file:
            yaml.safe_dump({"collections": {"all": {"index_paths": folder + "/", "archive_paths": folder + "/"}}, "debug": False}, file)
        from pywb.apps.frontendapp import FrontEndApp
        from werkzeug.test import Client

        # It has a line for each request.
        with open(os.devnull, "w") as quiet, contextlib.redirect_stderr(quiet), contextlib.redirect_stdout(quiet):
            client = Client(FrontEndApp(config_file="config.yaml"))
        unlike = {}
        for exchange in made:
            with open(os.devnull, "w") as quiet, contextlib.redirect_stderr(quiet), contextlib.redirect_stdout(quiet):
                # pywb decodes bodies for clients that do not say this.
                response = client.get("/all/%sid_/%s" % (exchange.timestamp, exchange.url), headers={"Accept-Encoding": "gzip, br"})
                body = response.get_data()
            status = int(exchange.status.split()[1])
            name = "replay of exchange %d (%s)" % (exchange.number, exchange.kind)
            if response.status_code != status:
                unlike.setdefault(exchange.kind, []).append("%s: status %d, not %d: %r" % (name, response.status_code, status, body[:200]))
            elif body != exchange.body:
                unlike.setdefault(exchange.kind, []).append("%s: %d bytes, not the %d that were sent" % (name, len(body), len(exchange.body)))
            else:
                encoding = dict((key.lower(), value) for key, value in exchange.fields).get(b"content-encoding", b"").decode()
                if exchange.body and response.headers.get("Content-Encoding", "") != encoding:
                    unlike.setdefault(exchange.kind, []).append("%s: encoding %r, not %r" % (name, response.headers.get("Content-Encoding"), encoding))
        for kind, sentences in unlike.items():
            complain("%d of kind %s: %s" % (len(sentences), kind, sentences[0]))
    finally:
        os.chdir(before)


# MARK: keys


def compare_keys(rng, count, complain=problem):
    from surt import surt

    session = "0123456789abcdefABCDEF0123456789"
    urls = []
    for _ in range(count):
        host = ".".join(rng.choice(["www", "www2", "WWW", "a", "Example", "xn--p1ai", "wwwx", "co"]) for _ in range(rng.randrange(1, 4))) + ".test"
        host = rng.choice([host] * 6 + ["192.0.2.1", "[2001:db8::1]"])
        port = rng.choice(["", "", "", ":80", ":443", ":8080"])
        parts = ["", "a", "B", ".", "..", "%2e%2E", "%41", "%2541", "%zz", "%", "é", "%C3%A9", "x;jsessionid=1", "a b".replace(" ", "%20")]
        parts += ["(%s)" % session[:24], "(S(%s))" % session[:24], "(s(%s)F(%s))" % (session[:24], session[:24]), "page.aspx", "%23", "%3f", "~!$'()*+,:@", "[]|\\^"]
        path = "".join("/" + rng.choice(parts) for _ in range(rng.randrange(0, 5)))
        fields = ["a=1", "A=2", "b", "b=", "", "a", "a=%26", "z=%2526", "sid=" + session, "PHPSESSID=" + session, "jsessionid=" + session]
        fields += ["jsessionid=" + session[:31], "xsid=" + session, "aspsessionidABCDEFGH=" + "abcdefghijklmnopqrstuvwx", "cfid=1&cftoken=2", "CFID=a&CFTOKEN=", "é=ü"]
        query = rng.choice(["", "?", "?" + "&".join(rng.choice(fields) for _ in range(rng.randrange(1, 5)))])
        urls.append("%s://%s%s%s%s%s" % (rng.choice(["http", "https", "HTTP"]).lower(), rng.choice(["", "", "u:p@"]), host, port, path, query))
    got = writer("keys", input="\n".join(urls) + "\n")
    wrong = [(url, key, surt(url)) for url, key in zip(urls, got) if key != surt(url)]
    if len(got) != len(urls) or wrong:
        complain("%d of %d keys differ, such as %r" % (len(wrong), len(urls), wrong[:3]))


# MARK: kills


def timed(*words):
    """The seconds between `began` and the end."""
    process = subprocess.Popen([WRITER, "archives", *map(str, words)], stdout=subprocess.PIPE, text=True)
    begun = time.monotonic()
    for line in process.stdout:
        if line == "began\n":
            begun = time.monotonic()
    if process.wait() != 0:
        problem("the writer has ended with %d" % process.returncode)
    return time.monotonic() - begun


def killed(words, moment):
    """The lines of a process that is killed so many seconds after it began to write."""
    process = subprocess.Popen([WRITER, "archives", *map(str, words)], stdout=subprocess.PIPE, text=True)
    lines = []
    for line in process.stdout:
        lines.append(line.rstrip("\n"))
        if lines[-1] == "began":
            break
    try:
        process.wait(timeout=moment)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
    lines += process.stdout.read().splitlines()
    process.wait()
    return lines


def durable(lines):
    return [int(line.split()[1]) for line in lines if line.startswith("durable ")]


def digests(folder, pattern):
    return {path: hashlib.sha256(open(path, "rb").read()).hexdigest() for path in glob.glob(folder + pattern)}


def kill_archives(rng, source, made, size, kills, seconds):
    recovered = 0
    for number in range(kills):
        folder = tempfile.mkdtemp(dir=SCRATCH)
        start = 0
        # Up to three kills in one folder, also of a run that recovers.
        for _ in range(rng.randrange(1, 4)):
            lines = killed(["warc", folder, source, start, size], rng.uniform(0, seconds * 0.7))
            recovered += sum(line.startswith("recovered ") for line in lines)
            start = max([start] + durable(lines))
            finished = digests(folder, "/*.warc.gz")
        lines = writer("warc", folder, source, start, size)
        recovered += sum(line.startswith("recovered ") for line in lines)
        if "ended" not in lines:
            problem("kill %d: the next run has not ended" % number)
        left = [name for name in os.listdir(folder) if name.endswith(".open")]
        if left:
            problem("kill %d: files are left open: %s" % (number, left))
        after = digests(folder, "/*.warc.gz")
        if any(after.get(path) != digest for path, digest in finished.items()):
            problem("kill %d: a complete file has changed" % number)
        for line in warcio_check(folder)[:3]:
            problem("kill %d: warcio check: %s" % (number, line))
        read_back(folder, made, lambda sentence: problem("kill %d, %d durable: %s" % (number, start, sentence)))
        compare_index(folder)
        shutil.rmtree(folder)
    return recovered


# MARK: shards


def check_shards(folder, count, each, complain=problem):
    import webdataset

    tars = sorted(glob.glob(folder + "/*.tar"))
    numbers = []
    for sample in webdataset.WebDataset(tars, shardshuffle=False, empty_check=False):
        number = int(sample["__key__"]) - 1_000_000_000
        numbers.append(number)
        picture = bytes((number * 31 + index) & 255 for index in range(number % 50 * 100 + 1))
        if sample["jpg"] != picture or sample["txt"] != b"caption %d" % number or json.loads(sample["json"]) != {"number": number}:
            complain("sample %d is another" % number)
    if sorted(numbers) != list(range(count)):
        complain("%d samples, %d of them different, not the %d that were added" % (len(numbers), len(set(numbers)), count))
    for path in tars[:-1]:
        if len(list(webdataset.WebDataset([path], shardshuffle=False))) != each:
            complain(path + " has another number of samples")
    return len(tars)


def kill_shards(rng, count, each, kills, seconds):
    for number in range(kills):
        folder = tempfile.mkdtemp(dir=SCRATCH)
        for _ in range(rng.randrange(1, 4)):
            lines = killed(["shards", folder, count, each], rng.uniform(0, seconds * 0.7))
            finished = digests(folder, "/*.tar")
            for shard in durable(lines):
                if folder + "/%05d.tar" % shard not in finished:
                    problem("kill %d: shard %d was reported and is missing" % (number, shard))
        lines = writer("shards", folder, count, each)
        after = digests(folder, "/*.tar")
        if any(after.get(path) != digest for path, digest in finished.items()):
            problem("kill %d: a complete shard has changed" % number)
        if [name for name in os.listdir(folder) if name.endswith(".open")]:
            problem("kill %d: a shard is left open" % number)
        check_shards(folder, count, each, lambda sentence: problem("kill %d of shards: %s" % (number, sentence)))
        shutil.rmtree(folder)


# MARK: planted damage


def planted(rng, folder, made, count, each):
    """Each comparison finds damage in a copy."""

    def expect(what, find):
        found = []
        try:
            find(found.append)
        except Exception as error:
            found.append(repr(error))
        if not found:
            problem("no comparison has found " + what)

    def copy(of):
        place = tempfile.mkdtemp(dir=SCRATCH)
        shutil.copytree(of, place, dirs_exist_ok=True)
        return place

    def change(path, old, new):
        data = open(path, "rb").read()
        assert old in data, (path, old)
        open(path, "wb").write(data.replace(old, new, 1))

    def repack(path, old, new):
        """Changes a record and packs all of them again, so that only digests tell."""
        data, packed = open(path, "rb").read(), b""
        while data:
            unpacker = zlib.decompressobj(31)
            record = unpacker.decompress(data)
            data = unpacker.unused_data
            if old in record and old is not None:
                record, old = record.replace(old, new, 1), b"\0never\0"
            packed += gzip.compress(record)
        open(path, "wb").write(packed)

    place = copy(folder)
    path = files(place)[0]
    data = bytearray(open(path, "rb").read())
    # In the middle of the longest record. Some bits of a gzip member's head mean nothing.
    start, longest = 0, (0, 0)
    while start < len(data):
        unpacker, end = zlib.decompressobj(31), start
        while not unpacker.eof:
            piece = bytes(data[end : end + 65536])
            unpacker.decompress(piece)
            end += len(piece) - len(unpacker.unused_data)
        longest, start = max(longest, (end - start, start)), end
    data[longest[1] + longest[0] // 2] ^= 1
    open(path, "wb").write(data)
    expect("a turned bit, by warcio check", lambda complain: [complain(line) for line in warcio_check(place)])
    place = copy(folder)
    repack(files(place)[0], b"queue", b"QUEUE")
    expect("a changed body, by warcio check", lambda complain: [complain(line) for line in warcio_check(place)])
    expect("a changed body, by reading back", lambda complain: read_back(place, made, complain))
    place = copy(folder)
    repack(files(place)[0], b"Server: trial", b"Server: other")
    expect("a changed field", lambda complain: read_back(place, made, complain))
    place = copy(folder)
    os.remove(files(place)[-1])
    expect("a missing file", lambda complain: read_back(place, made, complain))
    place = copy(folder)
    index = sorted(glob.glob(place + "/*.cdxj"))[0]
    change(index, b'"offset": "', b'"offset": "1')
    expect("a wrong offset, by pywb's indexer", lambda complain: compare_index(place, complain))
    expect("a wrong offset, by replay", lambda complain: replay(place, made, complain))
    place = copy(folder)
    index = sorted(glob.glob(place + "/*.cdxj"))[0]
    lines = open(index, "rb").read().splitlines(keepends=True)
    open(index, "wb").write(b"".join(reversed(lines)))
    expect("an index out of order", lambda complain: compare_index(place, complain))

    shards = tempfile.mkdtemp(dir=SCRATCH)
    writer("shards", shards, count, each)
    first = sorted(glob.glob(shards + "/*.tar"))[0]
    change(first, b"caption 7", b"Caption 7")
    expect("a changed caption", lambda complain: check_shards(shards, count, each, complain))
    os.remove(first)
    expect("a missing shard", lambda complain: check_shards(shards, count, each, complain))


# MARK: all


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    kills = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else random.randrange(1 << 30)
    say("seed %d" % seed)
    rng = random.Random(seed)
    size = 2_000_000

    compare_keys(rng, 20_000)
    say("keys compared with surt: 20000")

    made = made_up.make(seed, count)
    source = os.path.join(SCRATCH, "exchanges")
    made_up.write(source, made)
    folder = tempfile.mkdtemp(dir=SCRATCH)
    seconds = timed("warc", folder, source, 0, size)
    say("%d exchanges written in %.1f s, %d files" % (count, seconds, len(files(folder))))
    for line in warcio_check(folder)[:5]:
        problem("warcio check: " + line)
    found = read_back(folder, made)
    kinds = [kind for kinds in found.values() for kind in kinds]
    say("warcio has read back %d responses and %d revisits" % (kinds.count("response"), kinds.count("revisit")))
    say("pywb's indexer makes the same %d lines" % compare_index(folder))
    replay(folder, made)
    say("pywb has replayed %d exchanges" % len(made))

    resources = tempfile.mkdtemp(dir=SCRATCH)
    some = [exchange for exchange in made if exchange.kind == "plain"][:200]
    made_up.write(source + ".resources", some)
    writer("resources", resources, source + ".resources")
    for line in warcio_check(resources)[:5]:
        problem("warcio check of resources: " + line)
    compare_index(resources)
    replay(resources, some)
    say("pywb has replayed %d resources" % len(some))

    recovered = kill_archives(rng, source, made, size, kills, seconds)
    say("%d kills of archives, %d open files recovered" % (kills, recovered))

    samples, each = count, max(10, count // 12)
    first, second = tempfile.mkdtemp(dir=SCRATCH), tempfile.mkdtemp(dir=SCRATCH)
    seconds = timed("shards", first, samples, each)
    writer("shards", second, samples, each)
    tars = check_shards(first, samples, each)
    if sorted(digests(first, "/*.tar").values()) != sorted(digests(second, "/*.tar").values()):
        problem("equal samples have made different shards")
    say("webdataset has iterated %d shards of %d samples" % (tars, samples))
    kill_shards(rng, samples, each, kills, seconds)
    say("%d kills of shards" % kills)

    # Each damage has all records compared again: a few exchanges show as much as many.
    made = made_up.make(seed, min(count, 500))
    made_up.write(source + ".few", made)
    folder = tempfile.mkdtemp(dir=SCRATCH)
    timed("warc", folder, source + ".few", 0, size)
    planted(rng, folder, made, len(made), max(10, len(made) // 12))
    say("planted damage is found")
    if problems:
        say("%d problems, seed %d" % (len(problems), seed))
    return 1 if problems else 0


if __name__ == "__main__":
    WRITER = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as SCRATCH:
        status = main()
    sys.exit(status)
