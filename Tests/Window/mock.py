#!/usr/bin/env python3
"""Serves the window's pages, and plays the server's API with invented data. Nothing is fetched, and no Redis is needed.

  mock.py                       a queue of 2,000 jobs and 400 pictures; prints its address
  mock.py --pictures 100000     a large gallery
  mock.py --pictures 3000 --fill 40     40 pictures arrive each second
  mock.py --failing-host        one host fails, one is given up, one rests
  mock.py --hostile             URLs, texts and pictures that try to run a script
  mock.py --token secret        the window asks for this token
  mock.py --read-only           nothing can be changed
  mock.py --redis-away          every answer about a queue is a problem
  mock.py --empty               a queue without jobs

`POST /mock?redis=away` and `POST /mock?redis=back` switch while it runs; `pictures=slow` delays each picture by two seconds, `pictures=fast` ends that.
"""

import argparse
import colorsys
import datetime
import functools
import hashlib
import http.server
import json
import math
import pathlib
import random
import re
import struct
import threading
import time
import urllib.parse
import zlib

WINDOW = pathlib.Path(__file__).resolve().parents[2] / "Sources/GannetServer/Window"
TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
STATES = ["ready", "active", "parked", "delayed", "dead"]
OPEN = ["ready", "active", "parked", "delayed"]
HOSTS = ["museum.example.org", "archive.example.net", "images.example.com", "photos.example.edu", "static.example.com", "cdn.example.io"]
FAILURES = {
    "timeout": "The server did not answer in 30 seconds.",
    "http-404": "The server answered 404.",
    "connect": "The connection was refused.",
    "http-503": "The server answered 503.",
    "tls": "The certificate has expired.",
    "content": "The body is an HTML page, and a picture was asked for.",
}
HOSTILE = [
    "https://evil.example/<script>window.ran=1</script>.png",
    "https://evil.example/\"onerror=\"window.ran=1\"x.svg",
    "javascript:window.ran=1//https://evil.example/a.png",
    "https://evil.example/" + "a" * 600 + ".png",
    "https://evil.example/\u202egnp.exe",
    "data:text/html,<script>window.ran=1</script>",
]
HOSTILE_TEXT = "</td><img src=x onerror=window.ran=1><script>window.ran=1</script>"
HOSTILE_SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="150" onload="parent.ran=1"><script>parent.ran=1;top.ran=1</script>'
    '<rect width="200" height="150" fill="tomato"/><foreignObject width="9" height="9"><img xmlns="http://www.w3.org/1999/xhtml" src="x" '
    'onerror="parent.ran=1"/></foreignObject><image href="http://evil.example/beacon.png" width="9" height="9"/></svg>'
)


class Refusal(Exception):
    def __init__(self, status, kind, detail):
        super().__init__(detail)
        self.status, self.kind, self.detail = status, kind, detail


@functools.lru_cache(maxsize=2000)
def png(seed, width, height):
    """A landscape of two colours, so that pictures can be told apart."""
    dice = random.Random(seed)
    hue = dice.random()
    rgb = lambda h, s, v: bytes(int(255 * part) for part in colorsys.hsv_to_rgb(h % 1, s, v))
    phase, swing, horizon = dice.random() * 6, 0.05 + dice.random() * 0.15, 0.45 + dice.random() * 0.25
    columns = 16
    edges = [horizon + swing * math.sin(phase + 4 * column / columns) for column in range(columns)]
    rows = []
    for y in range(height):
        share = y / height
        sky, land = rgb(hue, 0.25 + 0.4 * share, 0.95), rgb(hue + 0.4, 0.5, 0.55 - 0.25 * share)
        row = b""
        for column, edge in enumerate(edges):
            row += (sky if share < edge else land) * (width * (column + 1) // columns - width * column // columns)
        rows.append(b"\0" + row)
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"".join(rows), 1)) + chunk(b"IEND", b"")


class Picture:
    __slots__ = ("id", "url", "host", "failure", "ended", "bytes", "kind", "favourite", "number")

    def __init__(self, number, ended, dice, hostile):
        self.number, self.ended, self.favourite = number, ended, False
        self.host = dice.choice(HOSTS)
        self.url = f"https://{self.host}/{2000 + number % 26}/{number:06}.png"
        if hostile and number % 4 == 1:
            self.url, self.host = HOSTILE[number // 4 % len(HOSTILE)], "evil.example"
        self.id = hashlib.sha256(f"{number} {self.url}".encode()).hexdigest()[:32]
        self.failure = dice.choice(list(FAILURES)) if dice.random() < 0.03 or number == 7 else None
        self.kind = "gone" if number == 11 else "svg" if hostile and number % 5 == 2 else "broken" if number == 13 else "png"
        self.bytes = int(10 ** dice.uniform(3.5, 6.9))

    def json(self, hostile):
        failed = self.failure is not None
        ended = datetime.datetime.fromtimestamp(self.ended, datetime.timezone.utc)
        message = HOSTILE_TEXT if hostile else FAILURES.get(self.failure)
        return {
            "id": self.id, "url": self.url, "host": self.host, "failed": failed, "endedAt": ended.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "bytes": None if failed else self.bytes, "type": None if failed else "image/svg+xml" if self.kind == "svg" else "image/png",
            "digest": None if failed else hashlib.sha256(self.id.encode()).hexdigest(),
            "httpStatus": int(self.failure[5:]) if failed and self.failure.startswith("http-") else None if failed else 200,
            "error": {"class": self.failure, "message": message} if failed else None, "favourite": self.favourite,
        }


class World:
    """All invented data. The lock is held for each answer."""

    def __init__(self, options):
        self.options, self.lock, self.dice = options, threading.Lock(), random.Random(7)
        self.is_away, self.is_slow, self.is_paused = options.redis_away, options.slow, False
        self.began = self.ticked = time.time()
        self.cookie = hashlib.sha256(str(random.random()).encode()).hexdigest()
        self.revision, self.arranged = 1, {}
        self.retried = self.cancelled = 0
        self.jobs = {state: [] for state in STATES}
        self.rules, self.history = {}, []
        count = 0 if options.empty else options.jobs
        for number in range(count):
            share = number / count
            state = "dead" if share < 0.12 else "delayed" if share < 0.15 else "parked" if share < 0.16 else "active" if share < 0.17 else "ready"
            self.jobs[state].append(self.job(number, state))
        pictures = 0 if options.empty else options.pictures
        self.wanted = pictures
        shown = min(pictures, options.start if options.start is not None else 0) if options.fill else pictures
        now = time.time()
        span = 86_400 * options.days / max(1, pictures)
        self.pictures = [Picture(i, now - (shown - i) * span, self.dice, options.hostile) for i in range(shown)]
        self.by_id = {picture.id: picture for picture in self.pictures}
        for picture in self.pictures[5::37]:
            picture.favourite = True
        self.arrived = float(shown)
        for step in range(90):
            wave = 120 + 60 * math.sin(step / 9) + self.dice.random() * 25
            self.history.append((None, None) if step < 6 or options.empty else (round(wave, 1), int(count + 4000 - step * 40 + self.dice.random() * 300)))

    def job(self, number, state):
        dice, options = self.dice, self.options
        host = "broken.example.net" if options.failing_host and state == "dead" and dice.random() < 0.7 else dice.choice(HOSTS)
        url = f"https://{host}/collection/{number:07}.jpg"
        if options.hostile and number % 3 == 0:
            url, host = f"{HOSTILE[number // 3 % len(HOSTILE)]}#{number}", "evil.example"
        kind = None if state in ("ready", "parked") else "timeout" if host == "broken.example.net" and dice.random() < 0.8 else dice.choice(list(FAILURES))
        if state == "active" and dice.random() < 0.8:
            kind = None
        age = dice.uniform(60, 9000)
        return {
            "state": state, "id": hashlib.sha256(url.encode()).hexdigest()[:32], "url": url, "host": host, "born": time.time() - age,
            "since": time.time() - dice.uniform(1, min(age, 30 if state == "active" else 3000)), "due": time.time() + dice.uniform(5, 900),
            "failures": 0 if kind is None else 4 if state == "dead" else 1, "crashes": int(dice.random() < 0.05), "kind": kind,
            "batch": "monday" if number % 2 else "museum", "message": HOSTILE_TEXT if options.hostile else FAILURES.get(kind),
        }

    def shown(self, job):
        now = time.time()
        kind = job["kind"]
        return {
            "state": job["state"], "id": job["id"], "url": job["url"], "host": job["host"], "ageSeconds": now - job["born"],
            "activeSeconds": now - job["since"] if job["state"] == "active" else None,
            "dueInSeconds": job["due"] - now if job["state"] == "delayed" else None,
            "deadSeconds": now - job["since"] if job["state"] == "dead" else None, "failures": job["failures"], "crashes": job["crashes"],
            "httpStatus": int(kind[5:]) if kind and kind.startswith("http-") else None,
            "error": {"class": kind, "message": job["message"]} if kind else None,
        }

    def tick(self):
        """Lets time pass: pictures arrive, and jobs end."""
        now = time.time()
        passed, self.ticked = now - self.ticked, now
        if self.is_paused or self.is_away:
            return
        if self.options.fill and len(self.pictures) < self.wanted:
            self.arrived = min(self.wanted, self.arrived + passed * self.options.fill)
            while len(self.pictures) < int(self.arrived):
                picture = Picture(len(self.pictures), now, self.dice, self.options.hostile)
                self.pictures.append(picture)
                self.by_id[picture.id] = picture
                self.revision += 1

    # The queue.

    def counts(self):
        counts = {state: len(jobs) for state, jobs in self.jobs.items()}
        counts["ready"] += self.wanted - len(self.pictures)
        return counts

    def status(self, queue):
        options, now = self.options, time.time()
        counts = self.counts()
        idle = options.empty or queue != "default"
        rate = 0 if self.is_paused else round(options.fill or 150 + 60 * math.sin(now / 7) + self.dice.random() * 20, 1)
        hosts = [] if idle else [
            {"name": name, "inFlight": self.dice.randrange(1, 9), "limit": 8 if place % 2 else None, "endedPerSecond": round(rate / 6 + place, 1),
             "failureShare": [0, 0.012, 0.004, 0.03, 0, 0.0][place], "averageSeconds": 0.2 + place / 9, "longestSeconds": 1.5 + place,
             "restSeconds": None, "givenUp": False}
            for place, name in enumerate(HOSTS)
        ]
        if options.failing_host and not idle:
            hosts.insert(3, {"name": "broken.example.net", "inFlight": 2, "limit": 4, "endedPerSecond": 0.4, "failureShare": 0.93, "averageSeconds": 28.4,
                             "longestSeconds": 29.7, "restSeconds": 42 - now % 42, "givenUp": False})  # fmt: skip
            hosts.append({"name": "moved.example.org", "inFlight": 0, "limit": None, "endedPerSecond": 0, "failureShare": 1, "averageSeconds": None,
                          "longestSeconds": None, "restSeconds": 3000.0, "givenUp": True})  # fmt: skip
            hosts.append({"name": "busy.example.com", "inFlight": 0, "limit": 2, "endedPerSecond": 0.1, "failureShare": 0.11, "averageSeconds": 0.8,
                          "longestSeconds": None, "restSeconds": 60.0, "givenUp": False})  # fmt: skip
        if options.hostile and not idle:
            hosts.append({**hosts[0], "name": "<img src=x onerror=window.ran=1>"})
        failures = {}
        for job in self.jobs["dead"]:
            failures[job["kind"]] = failures.get(job["kind"], 0) + 1
        done = 0 if idle else 41_870 + int((now - self.began) * 150)
        if idle:
            counts, failures = dict.fromkeys(STATES, 0), {}
        return {
            "schema": 1, "queue": queue, "paused": self.is_paused, "jobs": counts, "oldestReadySeconds": None if idle else 812.0 + now - self.began,
            "totals": {"enqueued": 0 if idle else done + sum(counts.values()), "done": done, "fetched": done * 7 // 10, "revalidated": done // 10, "cached": done // 5,
                       "failed": counts["dead"], "cancelled": self.cancelled, "retried": 0 if idle else 312 + self.retried, "crashed": 0 if idle else 3, "fenced": 0,
                       "doubleFetches": 0, "bytes": done * 183_211},
            "rate": {"donePerSecond": None if idle else rate, "bytesPerSecond": None if idle else rate * 183_211},
            "etaSeconds": None if idle or not rate else sum(counts[s] for s in OPEN) / rate,
            "failures": [{"class": kind, "count": count} for kind, count in sorted(failures.items(), key=lambda item: -item[1])],
            "workers": [] if idle else [
                {"id": f"w{place}", "host": f"crawl-{place + 1}", "pid": 4000 + place, "version": "1.4.0", "concurrency": 64, "active": 12 + place, "heartbeatSeconds": 0.8,
                 "state": ["working", "working", "idle", "silent"][place]} for place in range(4)
            ],
            "hosts": hosts,
            "otherQueues": [{"queue": "nightly", "notEnded": 12_300, "workers": 2}, {"queue": "default" if queue != "default" else "run-cb32e93cd13f844f", "notEnded": 0, "workers": 0}],
            "redis": None,
        }  # fmt: skip

    def batches(self, limit):
        done = len(self.pictures)
        failed = sum(1 for picture in self.pictures if picture.failure)
        waiting = self.wanted - done
        first = {"batch": "museum", "total": self.wanted, "done": done - failed, "failed": failed, "ready": waiting, "state": "running" if waiting else "complete", "ageSeconds": time.time() - self.began}
        others = [
            {"batch": name, "total": total, "done": total - bad, "failed": bad, "ready": 0, "state": state, "ageSeconds": age}
            for name, total, bad, state, age in [("monday", 48_211, 310, "complete", 9000), ("sunday", 51_100, 4, "complete", 95_000), ("trial", 20, 0, "cancelled", 200_000)]
        ]
        if self.options.hostile:
            others.append({"batch": HOSTILE_TEXT, "total": 9, "done": 3, "failed": 0, "ready": 6, "state": "open", "ageSeconds": 5})
        rest = {"cancelled": 0, "active": 0, "parked": 0, "delayed": 0, "priority": "normal", "refresh": False, "maxAgeSeconds": None, "headers": [], "traceID": None}
        found = [] if self.options.empty else [{**rest, **batch, "progress": (batch["done"] + batch["failed"]) / max(1, batch["total"])} for batch in [first] + others]
        return found[:limit], len(found)

    def select(self, words):
        state = words.get("state") or ("dead" if "class" in words else "active")
        if state not in STATES:
            raise Refusal(400, "bad-request", f"There is no state '{state}'.")
        if "class" in words and state != "dead":
            raise Refusal(400, "bad-request", "Only dead jobs have a class: leave 'state' out, or say dead.")
        tests = []
        for name, key in [("host", "host"), ("class", "kind"), ("batch", "batch"), ("url", "url")]:
            if name in words:
                tests.append(lambda job, key=key, value=words[name]: job[key] == value)
        if "text" in words:
            tests.append(lambda job: words["text"].lower() in job["url"].lower())
        return state, lambda job: all(test(job) for test in tests), bool(tests)

    def list(self, queue, words):
        state, matches, _ = self.select(words)
        start, limit = int(words.get("cursor", 0)), int(words.get("limit", 50))
        jobs = self.jobs[state] if queue == "default" else []
        # A text search looks at so many jobs a page, so a page may be empty.
        bound = 150 if "text" in words else len(jobs)
        found, place = [], start
        while place < len(jobs) and len(found) < limit and place < start + bound:
            if matches(jobs[place]):
                found.append(self.shown(jobs[place]))
            place += 1
        return {"schema": 1, "queue": queue, "state": state, "jobs": found, "cursor": str(place) if place < len(jobs) else None}

    def count(self, queue, words):
        state, matches, filtered = self.select(words)
        bound = 1000 if "text" in words else 100_000
        jobs = self.jobs[state] if queue == "default" else []
        return {"schema": 1, "queue": queue, "state": state, "count": sum(1 for job in jobs[:bound] if matches(job)), "atLeast": filtered and len(jobs) > bound}

    def sweep(self, queue, words, change):
        if "text" in words:
            raise Refusal(400, "bad-request", "Jobs cannot be changed by a part of their URL.")
        state, matches, _ = self.select({"state": "dead" if change == "retried" else "ready", **words})
        if "url" in words and state != "dead":
            raise Refusal(400, "bad-request", "Only dead jobs can be changed by URL.")
        chosen = [job for job in self.jobs[state] if matches(job)]
        self.jobs[state] = [job for job in self.jobs[state] if not matches(job)]
        if change == "retried":
            self.retried += len(chosen)
            for job in chosen:
                self.jobs["ready"].append({**job, "state": "ready", "failures": 0, "kind": None})
        else:
            self.cancelled += len(chosen)
        return {"schema": 1, "queue": queue, "state": state, "change": change, "count": len(chosen), "stuck": 0}

    def explain(self, url):
        job = next((job for jobs in self.jobs.values() for job in jobs if job["url"] == url), None)
        host = job["host"] if job else urllib.parse.urlsplit(url).hostname or ""
        dead = job is not None and job["state"] == "dead"
        kind = job["kind"] if job else None
        done = {"failed": False, "fresh": True, "ageSeconds": 341.0, "freshForSeconds": 3259.0, "tookSeconds": 0.412, "httpStatus": 200, "bytes": 183_211,
                "sha256": hashlib.sha256(url.encode()).hexdigest(), "contentType": "image/png", "file": "2019/0040.png", "error": None}  # fmt: skip
        bad = {**done, "failed": True, "fresh": False, "freshForSeconds": 0, "tookSeconds": 30.02, "httpStatus": None, "bytes": None, "sha256": None, "contentType": None,
               "file": None, "error": {"class": kind, "message": job["message"] if job else ""}}  # fmt: skip
        return {
            "schema": 1, "url": url, "id": hashlib.sha256(url.encode()).hexdigest()[:32], "headers": [HOSTILE_TEXT] if self.options.hostile else [],
            "cached": not dead, "outcome": bad if dead else None if job else done,
            "holder": {"kind": "worker", "queue": "default", "seconds": 4.2, "leaseSeconds": 25.0} if job and job["state"] == "active" else None,
            "waitingJobs": 0, "waitingCallers": 0,
            "host": {"name": host, "inFlight": 2, "coolDownSeconds": 42.0 if host == "broken.example.net" else None, "nextStartSeconds": None,
                     "connectFailures": 7 if host == "broken.example.net" else 0, "probing": False, "givenUp": False, "limit": 4, "intervalSeconds": None, "pauseSeconds": None, "rule": None},
        }  # fmt: skip

    # The gallery.

    def gallery(self, queue, words):
        order, by, east = words.get("order", "newest"), words.get("by"), int(words.get("east", 0))
        first, count = int(words.get("first", 0)), int(words.get("count", 200))
        batch = words.get("batch", "museum")
        if batch not in ("museum", HOSTILE_TEXT):
            if batch not in ("monday", "sunday", "trial"):
                raise Refusal(404, "no-such-batch", f"There is no batch '{batch}' in the queue '{queue}'.")
            return {"schema": 1, "queue": queue, "batch": batch, "revision": 1, "total": 0, "failed": 0, "waiting": 0, "isCut": False, "sections": [], "first": 0, "pictures": []}
        key = (order, by, east, words.get("favourites"))
        known = self.arranged.get(key)
        if known is None or known[0] != self.revision:
            some = [picture for picture in self.pictures if picture.favourite or words.get("favourites") != "true"]
            some.sort(key={"newest": lambda p: -p.ended, "oldest": lambda p: p.ended, "host": lambda p: (p.host, p.ended),
                           "largest": lambda p: -(p.bytes if p.failure is None else -1), "smallest": lambda p: p.bytes if p.failure is None else 1 << 60}[order])  # fmt: skip
            sections = [{"start": None, "count": len(some)}]
            if by:
                place, starts = datetime.timezone(datetime.timedelta(minutes=east)), {}
                for picture in some:
                    day = datetime.datetime.fromtimestamp(picture.ended, place).replace(hour=0, minute=0, second=0, microsecond=0)
                    day -= datetime.timedelta(days=day.weekday() if by == "week" else day.day - 1 if by == "month" else 0)
                    starts.setdefault(day, []).append(picture)
                sections = [{"start": day.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "count": len(group)} for day, group in starts.items()]
                some = [picture for group in starts.values() for picture in group]
            known = self.arranged[key] = (self.revision, some, sections if some else [])
        _, some, sections = known
        return {
            "schema": 1, "queue": queue, "batch": None if self.options.empty else batch, "revision": self.revision, "total": len(some),
            "failed": sum(1 for picture in some if picture.failure), "waiting": self.wanted - len(self.pictures), "isCut": False, "sections": sections, "first": first,
            "pictures": [picture.json(self.options.hostile) for picture in some[first : first + count]],
        }


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    @property
    def world(self):
        return self.server.world

    def log_message(self, *_):
        if self.world.options.verbose:
            super().log_message(*_)

    def send(self, status, body, kind, headers=()):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Content-Type-Options", "nosniff")
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def send_json(self, value):
        self.send(200, json.dumps(value).encode(), "application/json", [("Cache-Control", "no-store")])

    def empty(self, headers=()):
        self.send_response(204)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()

    def refuse(self, refusal):
        body = {"title": "Error", "status": refusal.status, "class": refusal.kind, "detail": refusal.detail}
        self.send(refusal.status, json.dumps(body).encode(), "application/problem+json", [("Cache-Control", "no-store")])

    @property
    def is_signed_in(self):
        return not self.world.options.token or f"gannet={self.world.cookie}" in self.headers.get("Cookie", "")

    def answer(self):
        parts = urllib.parse.urlsplit(self.path)
        words = {name: value for name, value in urllib.parse.parse_qsl(parts.query)}
        length = int(self.headers.get("Content-Length") or 0)
        if length:
            self.rfile.read(length)
        try:
            if parts.path == "/" or parts.path.startswith("/window/"):
                return self.file(parts.path)
            if parts.path == "/mock":
                return self.switch(words)
            if parts.path == "/v1/session":
                return self.session()
            if not self.is_signed_in:
                raise Refusal(401, "token", "This needs a token.")
            if parts.path == "/v1/events":
                return self.events(words.get("queue", "default"))
            if parts.path.startswith("/v1/kept/"):
                return self.kept(urllib.parse.unquote(parts.path[9:]), words)
            with self.world.lock:
                value = self.api(self.command, parts.path, words)
            if value is None:
                self.empty()
            else:
                self.send_json(value)
        except Refusal as refusal:
            self.refuse(refusal)
        except (BrokenPipeError, ConnectionResetError):
            pass

    do_GET = do_POST = do_PUT = do_DELETE = answer

    def file(self, path):
        name = "index.html" if path == "/" else path[len("/window/") :]
        file = WINDOW / name
        if not re.fullmatch(r"[a-z]+\.(html|css|js|svg)", name) or not file.is_file():
            raise Refusal(404, "not-found", "There is nothing at this path.")
        self.send(200, file.read_bytes(), TYPES[file.suffix], [("Content-Security-Policy", POLICY), ("Referrer-Policy", "no-referrer"), ("Cache-Control", "no-cache")])

    def switch(self, words):
        world = self.world
        if "redis" in words:
            world.is_away = words["redis"] == "away"
        if "pictures" in words:
            world.is_slow = words["pictures"] == "slow"
        self.empty()

    def session(self):
        world, options = self.world, self.world.options
        if self.command == "POST":
            if options.token and self.headers.get("Authorization") != f"Bearer {options.token}":
                raise Refusal(401, "token", "The token is wrong.")
            return self.empty([("Set-Cookie", f"gannet={world.cookie}; HttpOnly; SameSite=Strict; Path=/")])
        if self.command == "DELETE":
            return self.empty([("Set-Cookie", "gannet=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0")])
        self.send_json({
            "schema": 1, "needsToken": bool(options.token), "signedIn": self.is_signed_in and bool(options.token), "readOnly": options.read_only, "queue": "default",
            "batch": options.run_batch, "thumbnails": not options.no_thumbnails, "version": "1.4.0",
        })  # fmt: skip

    def events(self, queue):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        last = None
        while True:
            with self.world.lock:
                self.world.tick()
                if self.world.is_away:
                    name, data = "problem", {"class": "redis", "detail": "Redis is away, and with it the queues. Try again in a moment."}
                else:
                    name, data = "status", self.world.status(queue)
            if (name, data) != last:
                last = (name, data)
                self.wfile.write(f"event: {name}\ndata: {json.dumps(data)}\n\n".encode())
                self.wfile.flush()
            time.sleep(1)

    def kept(self, name, words):
        world = self.world
        if world.is_slow:
            time.sleep(2)
        picture = world.by_id.get(name)
        if picture is None or picture.failure or picture.kind == "gone":
            raise Refusal(404, "not-kept", "The body of this URL is not kept any more.")
        if picture.kind == "svg":
            return self.send(200, HOSTILE_SVG.encode(), "image/svg+xml", [("Content-Security-Policy", "default-src 'none'; sandbox")])
        if picture.kind == "broken":
            return self.send(200, b"\x89PNG\r\n\x1a\nbroken", "image/png")
        width, height = [(640, 480), (480, 640), (800, 450), (500, 500)][picture.number % 4]
        if "width" in words:
            width = height = int(words["width"]) // 2
        self.send(200, png(picture.id, width, height), "image/png", [("Cache-Control", "private, max-age=3600, immutable")])

    def api(self, method, path, words):
        world = self.world
        queue = words.pop("queue", "default")
        if world.is_away:
            raise Refusal(503, "redis", "Redis is away, and with it the queues. Try again in a moment.")
        if method != "GET" and world.options.read_only:
            raise Refusal(403, "read-only", "This server is read-only.")
        world.tick()
        named = re.fullmatch(r"/v1/(batches|favourites)/([^/]+)(/cancel)?", path)
        match (method, path):
            case "GET", "/v1/status":
                return world.status(queue)
            case "GET", "/v1/history":
                return {"schema": 1, "queue": queue, "stepSeconds": 10, "throughput": [a for a, _ in world.history], "depth": [b for _, b in world.history]}
            case "GET", "/v1/batches":
                batches, total = world.batches(int(words.get("limit", 50)))
                return {"schema": 1, "queue": queue, "batches": batches, "total": total}
            case "POST", "/v1/pause" | "/v1/resume":
                was, world.is_paused = world.is_paused, path == "/v1/pause"
                return {"schema": 1, "queue": queue, "wasPaused": was}
            case "GET", "/v1/jobs":
                return world.list(queue, words)
            case "GET", "/v1/jobs/count":
                return world.count(queue, words)
            case "POST", "/v1/jobs/retry":
                return world.sweep(queue, words, "retried")
            case "DELETE", "/v1/jobs":
                return world.sweep(queue, words, "deleted")
            case "GET", "/v1/explain":
                return world.explain(words.get("url", ""))
            case "GET", "/v1/pictures":
                return world.gallery(queue, words)
        if named and named[1] == "favourites" and method in ("PUT", "DELETE"):
            picture = world.by_id.get(urllib.parse.unquote(named[2]))
            if picture is None:
                raise Refusal(404, "not-found", "There is no such picture.")
            picture.favourite = method == "PUT"
            world.revision += 1
            return None
        if named and named[3] and method == "POST":
            world.wanted = len(world.pictures)
            return {"schema": 1, "queue": queue, **world.batches(1)[0][0]}
        raise Refusal(404, "not-found", "There is nothing at this path.")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        pass


def serve(arguments=None):
    """A server that is bound and not yet running, for tests and for `main`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2000)
    parser.add_argument("--pictures", type=int, default=400)
    parser.add_argument("--days", type=float, default=40, help="the span of time of the pictures")
    parser.add_argument("--fill", type=float, default=0, help="pictures that arrive each second")
    parser.add_argument("--start", type=int, help="pictures that are there at first while others arrive")
    parser.add_argument("--run-batch", help="the batch of a run that shows itself")
    parser.add_argument("--token")
    for flag in ["failing-host", "redis-away", "read-only", "hostile", "empty", "slow", "no-thumbnails", "verbose"]:
        parser.add_argument(f"--{flag}", action="store_true")
    server = Server(("127.0.0.1", 0), Handler, bind_and_activate=False)
    options = parser.parse_args(arguments)
    server.server_address = ("127.0.0.1", options.port)
    server.world = World(options)
    server.server_bind()
    server.server_activate()
    return server


if __name__ == "__main__":
    server = serve()
    print(f"http://127.0.0.1:{server.server_address[1]}/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
