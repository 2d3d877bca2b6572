"""A run of the program through a proxy that lets one call at a time pass to Redis. After each script the model's rules have to hold.

Workers fetch from an origin. One is killed with what it has, and one is stopped for longer than its lease. Answers are lost. So the calls are those of the real program, with its own
timing, blocks of many jobs, retries and deliveries.
"""

import collections
import hashlib
import http.server
import json
import pathlib
import signal
import socket
import subprocess
import tempfile
import threading
import time

NAMES = {b"STALE an exchange": "exchange", b"local jobs, FIRST": "enqueue", b"local LOST, THERE, FULL": "place", b"MOST_RULES": "control"}
OPTIONS = 19
LOSES = 7


class Broken(Exception):
    pass


def read_reply(reader):
    """A reply as bytes, and as a value."""
    line = reader.readline()
    if not line:
        raise EOFError
    kind, text, raw = line[:1], line[1:-2], line
    if kind in b"+-:,#_(":
        return raw, (int(text) if kind == b":" else text if kind == b"+" else None if kind == b"_" else Exception(text))
    if int(text) < 0:
        return raw, None
    if kind in b"$=":
        body = reader.read(int(text) + 2)
        return raw + body, body[:-2]
    items = []
    for _ in range(int(text) * (2 if kind == b"%" else 1)):
        more, item = read_reply(reader)
        raw += more
        items.append(item)
    return raw, items


def connect(path, seconds=60):
    end = time.monotonic() + seconds
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(path)
            return connection
        except OSError:
            connection.close()
            if time.monotonic() > end:
                raise SystemExit("proof: redis-server does not start")


def send(connection, *words):
    words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    connection.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))


def block(bytes):
    """A block's jobs, its host, and how a follower is counted."""
    many, at = bytes[0] & 4, 12 + bytes[10]
    flag = {0: "parked", 16: "delayed"}.get(bytes[0] & 48, "ready")
    return (bytes[at - 1] if many else 1), bytes[11 : 11 + bytes[10]], flag


def lock(bytes):
    extras = bytes[40 : 40 + int.from_bytes(bytes[38:40])]
    size = extras[0]
    queue, rest = extras[1 : 1 + size], extras[1 + size :]
    rest, interested = rest[2 + int.from_bytes(rest[:2]) :], []
    while rest:
        if rest[:1] == b"q":
            interested.append(rest[3 : 2 + rest[1]])
        rest = rest[2 + rest[1] :]
    return {"kind": chr(bytes[0]), "token": bytes[1:17], "flags": bytes[31], "queue": queue, "job": bytes[40 + int.from_bytes(bytes[38:40]) :], "interested": interested}


class Look:
    """The state of the namespace's one partition."""

    def __init__(self, connection, reader, tag):
        def ask(*words):
            send(connection, *words)
            return read_reply(reader)[1]

        def pairs(reply):
            return dict(zip(reply[::2], reply[1::2]))

        self.locks = {id: lock(bytes) for id, bytes in pairs(ask("HGETALL", tag + b"locks")).items()}
        self.hosts = {name: bytes for name, bytes in pairs(ask("HGETALL", tag + b"hosts")).items() if name[:1] not in (b"=", b"?")}
        # Processes whose leases have ended, and all of whose jobs were taken back.
        self.ended = sum(int(ends) < 0 for ends in pairs(ask("ZRANGE", tag + b"leases", 0, -1, "WITHSCORES")).values())
        self.holders, self.outcomes, self.queues = {}, {}, collections.defaultdict(lambda: collections.defaultdict(dict))
        for name in sorted(ask("KEYS", tag.replace(b"[", b"\\[") + b"*")):
            rest = name[len(tag) :]
            if rest.startswith(b"holder:"):
                self.holders[rest[7:]] = pairs(ask("HGETALL", name))
            elif rest.startswith(b"outcome:"):
                self.outcomes[rest[8:]] = True
            elif rest.startswith(b"q:"):
                _, queue, kind, *more = rest.split(b":", 3)
                if kind == b"queue":
                    self.queues[queue][kind] = pairs(ask("HGETALL", name))
                elif kind in (b"ready", b"aside", b"followers"):
                    # An id may have a colon in it.
                    detail = rest[len(b"q:" + queue + b":" + kind + b":") :]
                    self.queues[queue][kind][detail] = ask("LRANGE", name, 0, -1)
                elif kind == b"timers":
                    self.queues[queue][kind][more[0]] = pairs(ask("ZRANGE", name, 0, -1, "WITHSCORES"))

        seconds, micros = ask("TIME")
        self.soon = int(seconds) * 1000 + int(micros) // 1000 + 60_000

    def check(self):
        for id, one in self.locks.items():
            if one["kind"] != "W" and id not in self.holders.get(one["token"][8:], {}):
                raise Broken(f"the lock of {id.hex()} is not among what its process holds")
        for incarnation, fields in self.holders.items():
            for field in fields:
                if len(field) == 16 and (field not in self.locks or self.locks[field]["token"][8:] != incarnation):
                    raise Broken(f"a process holds {field.hex()}, whose lock is another's")
        running = collections.Counter()
        for one in self.locks.values():
            if one["kind"] == "L" and not one["flags"] & 10:
                running[block(one["job"])[1]] += 1
        for fields in self.holders.values():
            running.update(value for field, value in fields.items() if len(field) == 17 and field[:1] == b"p")
        for host in set(running) | set(self.hosts):
            counted = int.from_bytes(self.hosts.get(host, b"\0\0")[:2])
            if counted != running[host]:
                raise Broken(f"host {host.decode()} counts {counted} requests and has {running[host]}")
        for name, queue in self.queues.items():
            self.check_queue(name, queue)

    def check_queue(self, name, queue):
        counters = collections.defaultdict(int, {field: int(value) for field, value in queue[b"queue"].items() if value.isdigit()})
        timers = {member: float(score) for part in queue[b"timers"].values() for member, score in part.items()}
        waiting = collections.Counter()
        for elements in list(queue[b"ready"].values()) + list(queue[b"aside"].values()):
            waiting["ready"] += sum(block(element)[0] for element in elements if len(element) > 16)
        for id, elements in queue[b"followers"].items():
            flags = [block(element)[2] for element in elements]
            waiting.update(flags)
            if flags != sorted(flags, key=lambda flag: flag == "parked"):
                raise Broken(f"a job that came back stands behind followers of {id.hex()} that never ran")
            one = self.locks.get(id)
            at = timers.get(b"u" + id)
            is_told = one and one["kind"] != "W" and name in one["interested"]
            is_aside = any(id in elements for elements in queue[b"aside"].values())
            if at is None or at > self.soon and not is_told and not is_aside:
                raise Broken(f"followers of {id.hex()} are forgotten")
        for place in queue[b"aside"]:
            host = place.split(b":", 1)[-1]
            if b"h" + host not in timers:
                raise Broken(f"what stands aside at {host.decode()} is forgotten")
        active = sum(one["kind"] == "L" and one["queue"] == name for one in self.locks.values())
        active += sum(len(field) == 17 and field[:1] == b"d" and value[1 : 1 + value[0]] == name for fields in self.holders.values() for field, value in fields.items())
        found = {"active": active, "parked": waiting["parked"], "delayed": waiting["delayed"]}
        ready = counters[b"enqueued"] - sum(counters[field] for field in (b"done", b"failed", b"cancelled", b"active", b"parked", b"delayed"))
        counted = {field: counters[field.encode()] for field in found} | {"ready": ready}
        if counted != found | {"ready": waiting["ready"]}:
            raise Broken(f"the queue {name.decode()} counts {counted}, and has {found | {'ready': waiting['ready']}}")


class Ledger:
    """The answers to calls, held against the state before and after each call."""

    def __init__(self):
        self.names, self.last, self.counts, self.before, self.settled = {}, {}, collections.Counter(), None, set()
        self.ended = 0

    def note(self, name, words, reply, now):
        self.counts[name] += 1
        now.check()
        self.ended = now.ended
        if name == "exchange" and isinstance(reply, list) and reply[0] == b"done":
            self.exchange(words, reply, now)
        self.before = now

    def exchange(self, words, reply, now):
        keys = int(words[2])
        arguments = words[3 + keys :]
        incarnation, number = arguments[0], int(arguments[1])
        outcomes = arguments[OPTIONS : OPTIONS + int(arguments[12])]
        last = self.last.get(incarnation)
        if last and number < last[0]:
            raise Broken("a lower number was answered")
        if last and number == last[0]:
            self.counts["repeats"] += 1
            # A lock may have got a follower since; its token is the same.
            if reply[2] != last[1] or not {bytes[:17] for bytes in reply[9::2]} <= last[2]:
                raise Broken("the same number was answered otherwise")
            return
        self.last[incarnation] = (number, reply[2], {bytes[:17] for bytes in reply[9::2]})
        if len(reply[2]) != len(outcomes):
            raise Broken("not each outcome has a verdict")
        for verdict, one in zip(reply[2], outcomes):
            token, id, form, marks = one[:16], one[16:32], one[32], one[33]
            self.counts[f"verdict {verdict}"] += 1
            if marks >= 8 or form == 10 or verdict != 1:
                continue
            held = self.before.locks.get(id) if self.before else None
            if not held or held["token"] != token:
                raise Broken(f"an outcome of {id.hex()} was accepted, and its lock was not the sender's")
            if token in self.settled:
                raise Broken(f"an outcome of {id.hex()} was accepted twice")
            self.settled.add(token)
            if form <= 3 and id not in now.outcomes:
                raise Broken(f"a fetch of {id.hex()} ended without an outcome")
        for bytes in reply[9::2]:
            self.counts["handed out"] += 1
            if bytes[:1] == b"L" and not any(one["token"] == bytes[1:17] for one in now.locks.values()):
                raise Broken("a job was handed out whose lock is not there")


class Proxy:
    """Listens on one socket and passes each command on by itself. A connection that subscribes is passed on as it is."""

    def __init__(self, folder, target, tag, changes):
        self.exchanges = 0
        self.target, self.tag, self.turn, self.ledger, self.broken = target, tag, threading.Lock(), Ledger(), []
        # The program sends its scripts without indents.
        self.changes = [tuple("\n".join(line.lstrip(" ") for line in text.split("\n")).encode() for text in change[1:]) for change in changes]
        self.look = connect(target)
        self.look_reader = self.look.makefile("rb")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(folder / "proxy"))
        self.listener.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        server = connect(self.target)
        requests, replies = client.makefile("rb"), server.makefile("rb")
        try:
            while True:
                raw, words = read_reply(requests)
                if words[0].upper() in (b"SUBSCRIBE", b"SSUBSCRIBE"):
                    server.sendall(raw)
                    threading.Thread(target=self.copy, args=(requests, server), daemon=True).start()
                    return self.copy(replies, client)
                if words[0].upper() == b"EVAL" and self.changes:
                    for old, new in self.changes:
                        words[1] = words[1].replace(old, new)
                with self.turn:
                    send(server, *words)
                    reply, value = read_reply(replies)
                    is_lost = self.notice(words, value)
                if is_lost:
                    return
                client.sendall(reply)
        except (EOFError, OSError):
            pass
        finally:
            client.close()
            server.close()

    def copy(self, source, target):
        while data := source.read1(65536):
            target.sendall(data)

    def notice(self, words, value):
        command = words[0].upper()
        if command == b"EVAL" or command == b"SCRIPT" and words[1].upper() == b"LOAD":
            text = words[1] if command == b"EVAL" else words[2]
            name = next((name for mark, name in NAMES.items() if mark in text), "another script")
            self.ledger.names[hashlib.sha1(text).hexdigest().encode()] = name
            if command == b"SCRIPT":
                return
            words = [b"EVALSHA", hashlib.sha1(text).hexdigest().encode(), *words[2:]]
        elif command != b"EVALSHA" or isinstance(value, Exception):
            return
        try:
            name = self.ledger.names.get(words[1], "another script")
            self.ledger.note(name, words, value, Look(self.look, self.look_reader, self.tag))
        except Broken as broken:
            self.broken.append(f"call {sum(self.ledger.counts.values())}, {name}: {broken}")
        # The answer of some exchanges is lost, with the connection.
        self.exchanges += name == "exchange"
        is_lost = name == "exchange" and self.exchanges % LOSES == 0
        self.ledger.counts["lost answers"] += is_lost
        return is_lost


class Origin(http.server.BaseHTTPRequestHandler):
    """Answers each path once in five with a failure that passes, and slowly enough that a killed worker has something."""

    asked = collections.Counter()
    answered = collections.Counter()

    def do_GET(self):
        if self.path == "/robots.txt":
            # Without an answer, jobs that obey wait for it for as long as --give-up-after says.
            return self.send_error(404)
        name = self.headers["Host"].split(":")[0] + self.path
        Origin.asked[name] += 1
        fails = int(self.path[1:]) % 5 == 0 and Origin.asked[name] == 1
        Origin.answered[name] += not fails
        body = self.path.encode()
        self.send_response(500 if fails else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        """A worker that was killed has closed its connections."""


def check(program, jobs, changes=(), quiet=False):
    """Runs the program. Faults can be planted in its scripts on their way to Redis. Answers 1 where a rule is broken."""
    Origin.asked.clear()
    Origin.answered.clear()
    folder = tempfile.TemporaryDirectory(prefix="gannet-proof-")
    path = pathlib.Path(folder.name)
    redis = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", path / "s", "--dir", path, "--save", "", "--logfile", path / "log"])
    origin = Server(("0.0.0.0", 0), Origin)
    threading.Thread(target=origin.serve_forever, daemon=True).start()
    children = []
    try:
        proxy = Proxy(path, str(path / "s"), b"{gannet}", changes)
        words = ["--redis", f"unix://{path}/proxy"]
        # Each URL twice: the second is a follower, or is delivered.
        urls = [f"http://127.0.{number % (jobs // 2) % 7}.1:{origin.server_port}/{number % (jobs // 2)}" for number in range(jobs)]
        (path / "list").write_text("\n".join(urls) + "\n")
        # The model has no callers that ask for robots.txt.
        subprocess.run([program, "enqueue", "-i", path / "list", "--robots", "ignore", *words], check=True, capture_output=True)

        def work(*more):
            log = open(path / f"worker{len(children)}", "w")
            options = ["--allow-net", "all", "--concurrency", "8", "--host-limit", "2", "--lease", "5s", *more]
            children.append(subprocess.Popen([program, "work", *options, *words], stdout=log, stderr=log))
            return children[-1]

        victim = work()
        while sum(Origin.asked.values()) < jobs // 8 and not proxy.broken:
            time.sleep(0.01)
        stopped = work("--until-empty")
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        asked = sum(Origin.asked.values())
        while sum(Origin.asked.values()) < min(asked + jobs // 8, jobs // 2) and not proxy.broken:
            time.sleep(0.01)
        # For longer than its lease. Another worker fetches its URLs, and then it goes on.
        stopped.send_signal(signal.SIGSTOP)
        work("--until-empty")
        end = time.monotonic() + 60
        while proxy.ledger.ended < 2 and not proxy.broken and time.monotonic() < end:
            time.sleep(0.01)
        stopped.send_signal(signal.SIGCONT)
        end = time.monotonic() + 300
        while any(child.poll() is None for child in children) and not proxy.broken and time.monotonic() < end:
            time.sleep(0.05)
        done = json.loads(subprocess.run([program, "status", "--json", *words], check=True, capture_output=True, text=True).stdout)["totals"]
    finally:
        for child in children:
            if child.poll() is None:
                child.kill()
                child.wait()
        redis.kill()
        redis.wait()
        origin.shutdown()
    folder.cleanup()
    ended = done["done"] + done["failed"] + done["cancelled"]
    doubles, crashes = sum(count - 1 for count in Origin.answered.values()), done.get("crashed", 0)
    broken = list(proxy.broken)
    if not broken and ended != jobs:
        broken.append(f"{jobs} jobs were accepted, and {ended} have ended")
    # A killed worker may have had answers that it had not told Redis of.
    if not broken and doubles > crashes:
        broken.append(f"{doubles} answers were fetched again, and {crashes} URLs were charged a crash")
    if not quiet:
        for sentence in broken[:20]:
            print(f"proof: {sentence}")
        calls = ", ".join(f"{count} {name}" for name, count in sorted(proxy.ledger.counts.items()))
        print(f"proof: {jobs} jobs, {ended} ended, {done['failed']} failed, {doubles} fetched again after {crashes} crashes; {calls}")
    return int(bool(broken))
