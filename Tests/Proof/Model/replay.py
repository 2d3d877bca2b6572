"""Schedules of the model, made again on the real scripts. After each step the answer and the state have to be the model's."""

import re
import struct

import state as forms
from server import RedisError
from state import EPOCH, HOSTS, LEASE, QUEUES, TICK, incarnation, key, of_queue, url_id

FETCHED, FAIL, RETRY, BACK, DELIVERED, MISSING = 1, 3, 4, 6, 7, 8
FRESH = DAY = 86_400_000
DIGEST = b"\7" * 32


class Difference(Exception):
    pass


def schedules(text):
    """The schedules in what a simulation printed: each a list of steps, and a step is its line and the lines of the state after it."""
    step, steps = None, []
    for line in text.splitlines():
        if re.match(r"(enqueue|exchange|repeat|giveUp|crash|ended|tick|acquire|close)\b", line):
            step = (line, [])
            steps.append(step)
        elif step and line and not line.startswith(("state", "end", "spin:")) and "process" not in line:
            step[1].append(line)
    return steps


class Replay:
    def __init__(self, server, settings):
        self.server, self.settings = server, settings
        server.call("FLUSHALL")
        self.look = forms.Look(server, settings, server.now())
        self.tokens, self.sequences, self.requests, self.accepted = {}, {}, {}, [0] * len(QUEUES)
        self.incarnations = list(range(settings.workers + 1))
        self.next_incarnation = settings.workers + 1
        self.known = [set() for _ in self.incarnations]
        self.given = [[] for _ in self.incarnations]
        self.nonces, self.nonce = {}, 0
        self.calls = 0
        for queue, name in enumerate(QUEUES):
            fields = ["id", "b", "source", "", "state", "open", "priority", 2, "refresh", 0, "maxAge", -1, "offset", 0, "total", 0, "touched", server.now()]
            server.pipeline([
                ("HSET", of_queue(queue, f"batch:{queue + 1}"), *fields), ("HSET", of_queue(queue, "queue"), "priorities", 2),
                ("ZADD", of_queue(queue, "batches"), queue + 1, "b"), ("HSET", key("state"), "batches", queue + 1),
            ])

    def run(self, steps):
        for number, (line, lines) in enumerate(steps):
            words = line.split()
            fields = dict(word.split("=") for word in words if "=" in word)
            numbers = {name: int(value) for name, value in fields.items() if value.lstrip("-").isdigit()}
            try:
                getattr(self, words[0])(line, **({"answer": fields["answer"]} if "answer" in fields else {}), **numbers)
                self.compare(lines)
            except (Difference, RedisError) as error:
                raise Difference(f"step {number + 1}, {line}: {error}") from error

    def script(self, name, keys, *arguments):
        self.calls += 1
        return self.server.run(name, keys, *arguments)

    # Steps of the model, by their names.

    def enqueue(self, line, job):
        queue, url = self.settings.queue_of(job), self.settings.url_of(job)
        host = HOSTS[self.settings.host_of(url)]
        block = bytes([64]) + struct.pack(">I", queue + 1) + bytes(5) + bytes([len(host)]) + host + url_id(url) + b"/"
        before = self.accepted[queue]
        self.accepted[queue] += 1
        # Its answer may be lost: the producer sends it again.
        answers = [
            self.script("enqueue", [key("state"), of_queue(queue, "queue")], queue + 1, "b", before, before + 1, 0, 0, 1, block) for _ in range(2)
        ]
        if answers[0] != answers[1] or answers[0][0] != before + 1:
            raise Difference(f"answered {answers[0]}, and then {answers[1]}")

    def tick(self, line):
        for _ in range(TICK // self.server.MOVED_BY_CALLS):
            self.server.advance(self.server.MOVED_BY_CALLS)
            # A call that changes nothing: lease time goes on only while somebody calls.
            self.script("control", [key("state"), key("q::queue")], "rule", "nowhere", "")

    def close(self, line):
        pass

    def crash(self, line, process):
        self.begin(process, knows=False)

    def ended(self, line, process, incarnation):
        if self.incarnations[process] != incarnation:
            raise Difference(f"the replay has incarnation {self.incarnations[process]}")
        answer = self.script("exchange", *self.request(process, self.sequences.get(incarnation, 0) + 1, 2, 0, []))
        if answer != [b"ended"]:
            raise Difference(f"answered {answer}")
        if process == self.settings.workers and self.acquiring(url_id(0), b"another") != [b"ended"]:
            raise Difference("an ended caller was answered")
        self.begin(process, knows=True)

    def begin(self, process, knows):
        self.incarnations[process] = self.next_incarnation
        self.next_incarnation += 1
        self.known[process] = set()
        self.given[process] = []
        self.requests.pop(process, None)

    def giveUp(self, line, process):
        self.given[process] = []
        # An exchange that never arrived leaves a gap between two numbers.
        self.sequences[self.incarnations[process]] += 1

    def request(self, process, number, wanted, names, outcomes):
        worker = process < self.settings.workers
        queue = QUEUES[self.settings.queue_of_worker(process)] if worker else b""
        held = sorted(self.field(one) for one in self.known[process]) if names else []
        return [
            [key("state"), key(b"q:" + queue + b":queue")], incarnation(self.incarnations[process]), number, LEASE, DAY, wanted if worker else 0, 0, "",
            self.settings.limit, 0, "0.5", 0, 100000, len(outcomes), names, 1, 0, self.settings.limit, 0, 0, *outcomes, *held,
        ]

    def field(self, one):
        kind, number, token = one
        return url_id(number) if kind == "L" else b"d" + self.tokens[kind, number, token]

    def outcome(self, kind, number, token, form):
        url = number if kind == "L" else self.settings.url_of(number)
        pause = TICK if form == RETRY else 0
        content = DIGEST if form != RETRY else b"It took too long."
        bytes = self.tokens[kind, number, token] + url_id(url) + struct.pack(">BB", form, 8 if kind == "D" else 0)
        return bytes + b"".join(value.to_bytes(6, "big") for value in (FRESH, FRESH, pause, 0)) + content

    def exchange(self, line, process, incarnation, wanted, names, lost, heldBack, more):
        sent, given = line.split(" sent")[1].split(" given")
        sent = [self.settlement(word) for word in sent.split()]
        if self.incarnations[process] != incarnation:
            raise Difference(f"the replay has incarnation {self.incarnations[process]}")
        number = self.sequences[incarnation] = self.sequences.get(incarnation, 0) + 1
        for kind, url, token, *_ in sent:
            self.known[process].discard((kind, url, token))
        request = self.request(process, number, wanted, names, [self.outcome(*one[:4]) for one in sent])
        self.requests[process] = request
        answer = self.script("exchange", *request)
        verdicts = list(answer[2])
        if verdicts != [one[4] for one in sent]:
            raise Difference(f"the verdicts are {verdicts}")
        items = self.items(given)
        self.note_tokens(items, answer)
        if (answer[7] == 2, answer[5]) != (bool(heldBack), more):
            raise Difference(f"is held back {answer[7]}, and more is {answer[5]}")
        self.given[process] = items
        if not lost:
            self.known[process] |= set(items)
            self.deliver_again(request, answer, number)

    def deliver_again(self, request, answer, number):
        """The network brings the same request again, and the one before it: they change nothing."""
        again = self.script("exchange", *request)
        if again[2] != answer[2] or sorted(again[9::2]) != sorted(answer[9::2]):
            raise Difference("the same number was answered otherwise")
        if number > 1:
            earlier = list(request)
            earlier[2] = number - 1
            try:
                raise Difference(f"an earlier number was answered: {self.script('exchange', *earlier)}")
            except RedisError as error:
                if not str(error).startswith("STALE"):
                    raise

    def repeat(self, line, process, incarnation):
        answer = self.script("exchange", *self.requests[process])
        items = self.items(line.split(" given")[1])
        if sorted(items) != sorted(self.given[process]):
            raise Difference(f"the model gave {self.given[process]} before")
        wanted = sorted((b"L" if kind == "L" else b"d") + self.tokens[kind, number, token] for kind, number, token in items)
        if sorted(bytes[:17] for bytes in answer[9::2]) != wanted:
            raise Difference(f"answered {answer[9::2]}")
        self.known[process] |= set(items)

    def settlement(self, word):
        kind, numbers = word.split(":")
        number, token, form, verdict = (int(part) for part in numbers.split(","))
        return ("L" if kind == "lock" else "D", number, token, form, verdict)

    def items(self, text):
        """The jobs that the model hands out: a lock by its URL, a delivery by its job."""
        items = []
        for word in re.findall(r"[LD]\d+,\d+", text):
            job, token = (int(part) for part in word[1:].split(","))
            items.append((word[0], self.settings.url_of(job) if word[0] == "L" else job, token))
        return items

    def note_tokens(self, items, answer):
        jobs = answer[9::2]
        real = [(chr(bytes[0]).upper(), self.url_of_answer(bytes)) for bytes in jobs]
        model = [(kind, number if kind == "L" else self.settings.url_of(number)) for kind, number, _ in items]
        if real != model:
            raise Difference(f"handed out {real}")
        for (kind, number, token), bytes in zip(items, jobs):
            self.tokens[kind, number, token] = bytes[1:17]

    def url_of_answer(self, bytes):
        at = 17 + 21 if bytes[:1] == b"L" else 17
        length = int.from_bytes(bytes[at : at + 2]) + 2 if bytes[:1] == b"L" else bytes[at] + 1
        return self.look.block(bytes[at + length :])[0]

    def acquiring(self, id, nonce):
        caller = incarnation(self.incarnations[self.settings.workers])
        return self.script("acquire", [key("state")], id, caller, LEASE, DAY, "", 0, -1, -1, "", nonce)

    def acquire(self, line, incarnation, url, lost, again, answer):
        if not again:
            self.nonce += 1
            self.nonces[url] = struct.pack(">Q", self.nonce)
        real = self.acquiring(url_id(url), self.nonces[url])
        if real[0].decode() != answer:
            raise Difference(f"answered {real}")
        if answer == "leased" and not lost:
            lock = self.look.lock(self.server.call("HGET", key("locks"), url_id(url)))
            if lock["token"] != real[2]:
                raise Difference("the answer has another token than the lock")

    def compare(self, lines):
        model, real = forms.of_model(lines, self.settings), self.look.read()
        for name in sorted(set(model) | set(real), key=str):
            one, other = model.get(name), real.get(name)
            if name[0] == "lock" and one and other:
                one = dict(one, token=self.token_of("L", name[1], one["token"], other["token"]))
            if name[0] == "outcome" and one and other:
                one = (one[0], self.tokens.get(("L", name[1], one[1])))
            if one != other:
                raise Difference(f"{name} is {other}, and in the model {one}")

    def token_of(self, kind, number, token, real):
        """A token that the model knows has one value, and a later one has a larger counter."""
        known = self.tokens.setdefault((kind, number, token), real)
        before = self.tokens.get((kind, number, token - 1))
        if before and known[:8] <= before[:8]:
            raise Difference(f"a token was given twice: {known}")
        return known
