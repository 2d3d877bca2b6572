"""The state of the model and the state in Redis, in one form: a dictionary whose keys are the names of things."""

import struct

TAG = b"{g}"
QUEUES = [b"a", b"b"]
HOSTS = [b"h0", b"h1"]
TICK, QUARTER, LEASE = 30_000, 250, 60_000
NONE, NEVER, NEEDED = 255, 254, 300
# The timers of hosts stand behind the others.
BEHIND = 1 << 42
EPOCH = 1_577_836_800_000
KINDS = {1: "L", 2: "A", 3: "W"}
FLAGS = {0: "parked", 10: "retried", 20: "back"}
WAITING = {1: b"a", 2: b"b", 3: b":!"}


def url_id(url):
    return bytes(15) + bytes([url + 1])


def incarnation(number):
    return struct.pack(">Q", number + 1)


def key(name):
    return TAG + (name if isinstance(name, bytes) else name.encode())


def of_queue(queue, name):
    return key(b"q:" + QUEUES[queue] + b":" + (name if isinstance(name, bytes) else name.encode()))


class Settings:
    """Which queue, URL and host things belong to: a bit for each of them."""

    def __init__(self, definitions):
        self.values = {name: int(value) for name, value in (word[2:].split("=") for word in definitions)}
        self.urls, self.queues, self.hosts = 2, 2, 2
        self.jobs, self.workers = self.values["JOBS"], self.values["WORKERS"]
        self.incarnations = self.workers + 1 + self.values["RESTARTS"] + self.workers
        self.limit = self.values.get("LIMIT", 1)

    def bit(self, name, number):
        return self.values[name] >> number & 1

    def queue_of(self, job):
        return self.bit("JOB_QUEUES", job)

    def url_of(self, job):
        return self.bit("JOB_URLS", job)

    def host_of(self, url):
        return self.bit("URL_HOSTS", url)

    def queue_of_worker(self, worker):
        return self.bit("WORKER_QUEUES", worker)


def of_model(lines, settings):
    """The state that the model tells in these lines. Tokens are the model's own numbers."""
    state, holders = {}, {}
    deliveries = []
    for line in lines:
        kind, *words = line.split()
        words = [int(word) for word in words if "=" not in word]
        if kind == "lock":
            url, form, owner, token, job, crashes, failures, began, suspect, no_place, failed, first, second = words
            if not form:
                continue
            state["lock", url] = {
                "kind": KINDS[form], "owner": owner if form != 3 else None, "token": token, "queue": settings.queue_of(job) if form == 1 else None,
                "crashes": crashes, "failures": failures, "began": began if form == 3 else None, "suspect": bool(suspect), "no place": bool(no_place),
                "failed": bool(failed), "interested": [queue - 1 for queue in (first, second) if queue],
            }
            if form != 3:
                holder = holders.setdefault(owner, {"locks": set(), "deliveries": [], "suspects": 0})
                holder["locks"].add(url)
                if form == 1 and suspect and crashes < 3:
                    holder["suspects"] += 9 if crashes > 1 else 1
        elif kind == "outcome" and words[1]:
            state["outcome", words[0]] = (words[1], words[2])
        elif kind == "host":
            running, offered, *waiting = words[1:]
            if running or any(waiting):
                state["host", words[0]] = (running, offered, [WAITING[one] for one in waiting if one])
        elif kind == "count":
            names = ("enqueued", "done", "failed", "active", "parked", "delayed", "retried", "crashed", "fenced")
            state["count", words[0]] = dict(zip(names, words[1:10]))
            state["alone", words[0]] = words[10] - 1 if words[10] else None
        elif kind == "timers":
            names = (b"u" + url_id(0), b"u" + url_id(1), b"hh0", b"hh1")
            timers = {name: score for name, score in zip(names, words[1:5]) if score != NONE}
            if words[5]:
                timers[b"h!"] = 0
            for name, needs in zip(names[2:], words[6:8]):
                if needs:
                    timers[name] = (timers[name], needs)
            state["timers", words[0]] = timers
        elif kind in ("ready", "lone"):
            state[kind, words[0]] = words[1:] if kind == "lone" else [settings.url_of(job) for job in words[1:]]
        elif kind == "followers":
            state[kind, words[0], words[1]] = [FLAGS[job - job % 10] for job in words[2:]]
        elif kind == "aside":
            state[kind, words[0], words[1]] = [("url", x - 100) if x >= 100 else ("job", settings.url_of(x)) for x in words[2:]]
        elif kind == "lease" and words[1]:
            state["lease", words[0]] = None if words[2] else words[1]
        elif kind == "delivery" and words[1]:
            deliveries.append((words[1] - 1, words[0]))
    for owner, job in deliveries:
        holders.setdefault(owner, {"locks": set(), "deliveries": [], "suspects": 0})["deliveries"].append((settings.queue_of(job), settings.url_of(job)))
    for owner, holder in holders.items():
        holder["deliveries"].sort()
        state["holder", owner] = holder
    return state


class Look:
    """Reads what is in Redis. `start` is the queue time of the first tick."""

    def __init__(self, server, settings, start):
        self.server, self.settings, self.start = server, settings, start

    def score(self, at):
        """The model's score of a time."""
        if at == float("inf") or at > self.start + 200 * TICK:
            return NEVER
        if at == 0:
            return 0
        ticks, rest = divmod(int(at) - self.start, TICK)
        return 4 * (ticks + 1) + rest // QUARTER if rest % QUARTER == 0 and 0 <= rest < 3 * QUARTER else f"{rest} ms after tick {ticks + 1}"

    def host_score(self, at):
        """A host that is due is so by its needs earlier: 300 ms for each of its elements aside."""
        needs = -(int(at) - self.start) % TICK
        return (self.score(at + needs), needs // NEEDED) if at > 0 and 0 < needs <= 8 * NEEDED and needs % NEEDED == 0 else self.score(at)

    def block(self, bytes):
        """The URL of a block of one job, and how a follower is counted."""
        flag = {0: "parked", 16: "retried", 32: "back"}[bytes[0] & 48]
        at = 11 + bytes[10]
        return bytes[at + 15] - 1, flag

    def lock(self, bytes):
        token = bytes[1:17]
        began, _, crashes, failures, flags, _, length = (
            int.from_bytes(bytes[17:23]), int.from_bytes(bytes[23:29]), bytes[29], bytes[30], bytes[31], bytes[32:38], int.from_bytes(bytes[38:40]),
        )
        extras = bytes[40 : 40 + length]
        size = extras[0]
        queue, rest = extras[1 : 1 + size], extras[1 + size :]
        size = int.from_bytes(rest[:2])
        failure, rest, interested = rest[2 : 2 + size], rest[2 + size :], []
        while rest:
            interested.append(QUEUES.index(rest[3 : 2 + rest[1]]))
            rest = rest[2 + rest[1] :]
        kind = chr(bytes[0])
        return {
            "kind": kind, "owner": int.from_bytes(token[8:]) - 1 if kind != "W" else None, "token": token, "queue": QUEUES.index(queue) if kind == "L" else None,
            "crashes": crashes, "failures": failures, "began": self.score(began) if kind == "W" else None, "suspect": flags & 1 == 1,
            "no place": flags & 8 == 8, "failed": bool(failure), "interested": interested,
        }

    def read(self):
        settings, state = self.settings, {}
        urls, hosts, queues, people = range(settings.urls), range(settings.hosts), range(settings.queues), range(settings.incarnations)
        commands, notes = [], []

        def ask(note, *words):
            commands.append(words)
            notes.append(note)

        ask(("locks",), "HGETALL", key("locks"))
        ask(("hosts",), "HMGET", key("hosts"), *HOSTS)
        ask(("leases",), "ZRANGE", key("leases"), 0, -1, "WITHSCORES")
        for url in urls:
            ask(("outcome", url), "GET", key(b"outcome:" + url_id(url)))
        for person in people:
            ask(("holder", person), "HGETALL", key(b"holder:" + incarnation(person)))
        for queue in queues:
            ask(("queue", queue), "HGETALL", of_queue(queue, "queue"))
            ask(("batch", queue), "HMGET", of_queue(queue, f"batch:{queue + 1}"), "total", "done", "failed", "active", "parked", "delayed")
            ask(("finished", queue), "LLEN", of_queue(queue, f"finished:{queue + 1}"))
            ask(("dead", queue), "ZCARD", of_queue(queue, "dead"))
            ask(("timers", queue), "ZRANGE", of_queue(queue, "timers:normal"), 0, -1, "WITHSCORES")
            ask(("ready", queue), "LRANGE", of_queue(queue, "ready:normal"), 0, -1)
            ask(("lone", queue), "LRANGE", of_queue(queue, "aside:normal:!"), 0, -1)
            for url in urls:
                ask(("followers", queue, url), "LRANGE", of_queue(queue, b"followers:" + url_id(url)), 0, -1)
            for host in hosts:
                ask(("aside", queue, host), "LRANGE", of_queue(queue, b"aside:normal:" + HOSTS[host]), 0, -1)
        for note, reply in zip(notes, self.server.pipeline(commands)):
            self.put(state, note, reply)
        return state

    def put(self, state, note, reply):
        kind, pairs = note[0], list(zip(reply[::2], reply[1::2])) if isinstance(reply, list) else []
        if kind == "locks":
            for id, bytes in pairs:
                state["lock", id[15] - 1] = self.lock(bytes)
        elif kind == "hosts":
            for host, bytes in enumerate(reply):
                if bytes is None:
                    continue
                waiting, rest = [], bytes[32 + int.from_bytes(bytes[30:32]) :]
                while rest:
                    waiting.append(rest[1 : 1 + rest[0]])
                    rest = rest[1 + rest[0] :]
                offered = int.from_bytes(bytes[24:30])
                running = int.from_bytes(bytes[:2])
                if running or waiting or offered:
                    state["host", host] = (running, self.score(offered), waiting)
        elif kind == "leases":
            for name, ends in pairs:
                ends = int(ends)
                state["lease", int.from_bytes(name) - 1] = None if ends < 0 else ends / TICK + 1
        elif kind == "outcome" and reply:
            state[note] = (2 if reply[1] & 1 else 1, reply[2:18])
        elif kind == "holder":
            holder = {"locks": set(), "deliveries": [], "suspects": 0}
            for field, value in pairs:
                if field == b"suspects":
                    holder["suspects"] = int(value)
                elif len(field) == 16:
                    holder["locks"].add(field[15] - 1)
                elif len(field) == 17:
                    holder["deliveries"].append((QUEUES.index(value[1 : 1 + value[0]]), self.block(value[1 + value[0] :])[0]))
            holder["deliveries"].sort()
            if holder["locks"] or holder["deliveries"] or holder["suspects"]:
                state[note] = holder
        elif kind == "queue":
            fields = dict(pairs)
            names = ("enqueued", "done", "failed", "active", "parked", "delayed", "retried", "crashed", "fenced")
            state["count", note[1]] = {name: int(fields.get(name.encode(), 0)) for name in names}
            state["alone", note[1]] = int.from_bytes(fields[b"alone"]) - 1 if b"alone" in fields else None
        elif kind == "batch":
            # A batch counts what its queue counts, because the queue has no other.
            counts = state["count", note[1]]
            for name, value in zip(("total", "done", "failed", "active", "parked", "delayed"), reply):
                if int(value or 0) != counts["enqueued" if name == "total" else name]:
                    state["batch", note[1], name] = f"{value}, and the queue has {counts}"
        elif kind in ("finished", "dead"):
            counts = state["count", note[1]]
            if reply != counts["failed"] + (counts["done"] if kind == "finished" else 0):
                state[note] = f"{reply} elements, and the queue has {counts}"
        elif kind == "timers":
            state[note] = {member: self.host_score(float(score) - BEHIND) if member[:1] == b"h" else self.score(float(score)) for member, score in pairs}
        elif kind == "ready":
            state[note] = [self.block(block)[0] for block in reply]
        elif kind == "lone":
            state[note] = [id[15] - 1 for id in reply]
        elif kind == "followers":
            state[note] = [self.block(block)[1] for block in reply]
        elif kind == "aside":
            state[note] = [("url", element[15] - 1) if len(element) == 16 else ("job", self.block(element)[0]) for element in reply]
