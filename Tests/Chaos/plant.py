"""Planted faults: harm that the product cannot do itself, done behind its back. The ledger has to find each, or the ledger is worth nothing."""

import http.client
import signal

from base import until
from watch import keys_of, redis


class Plant:
    """Tries until it has found something to harm, while jobs are under way."""

    name, sentence = "", ""

    def __init__(self):
        self.is_done = False

    def try_it(self, trial):
        if trial.watch.samples > 1:
            self.is_done = bool(self.harm(trial, trial.nodes[0]))


class LostJob(Plant):
    """A block of jobs is taken from a list: of those that no worker has seen, or that stand aside."""

    name, sentence = "lost-job", "jobs do not end"

    def harm(self, trial, node):
        keys = [key for kind in ("ready", "aside") for key in keys_of(node, f"{{gannet}}q:default:{kind}:*")]
        return any((redis(node, "LPOP", key) or ["(nil)"])[0] != "(nil)" for key in keys)


class LostLock(Plant):
    """The lock of a URL that is being fetched is deleted."""

    name, sentence = "lost-lock", "jobs do not end"

    def harm(self, trial, node):
        script = "local id = redis.call('HRANDFIELD', KEYS[1]) return id and redis.call('HDEL', KEYS[1], id) or 0"
        return redis(node, "EVAL", script, 1, "{gannet}locks") == ["(integer) 1"]


class ChangedBody(Plant):
    """Other bytes stand under a digest."""

    name, sentence = "changed-body", "can be fetched and is failed"

    def harm(self, trial, node):
        script = (
            "local digest = redis.call('ZRANGE', KEYS[1], 0, 0)[1] if not digest then return 0 end "
            "local key = '{gannet:blob}:' .. digest:sub(1, 32) if redis.call('EXISTS', key) == 0 then return 0 end "
            "return redis.call('SETRANGE', key, 0, 'B')"
        )
        return (redis(node, "EVAL", script, 1, "{gannet:blob}s") or ["(integer) 0"])[0] != "(integer) 0"


class WrongCount(Plant):
    """A job counts as done twice."""

    name, sentence = "wrong-count", "have ended of"

    def harm(self, trial, node):
        return redis(node, "HINCRBY", "{gannet}q:default:queue", "done", 1)


class Repeat(Plant):
    """Somebody asks the origin for a URL once more."""

    name, sentence = "second-request", "requests were repeats"

    def harm(self, trial, node):
        with trial.origin.log.open() as log:
            name = next((line.split()[0] for line in log if line.endswith("\n") and "/s/" in line), None)
        if not name:
            return False
        host, _, path = name.partition("/")
        client = http.client.HTTPConnection(host, trial.origin.port, timeout=10)
        client.request("GET", "/" + path)
        return client.getresponse().status == 200


class DeadJob(Plant):
    """The origin refuses a URL that it should have, for as long as it takes to give the URL up."""

    name, sentence = "dead-job", "can be fetched and is failed"

    def harm(self, trial, node):
        file = trial.folder / "origin" / "nginx.conf"
        text = file.read_text()
        file.write_text(text.replace("location /m/ {", "location /m/ { return 404;"))
        trial.origin.process.send_signal(signal.SIGHUP)
        return True


class Stall(Plant):
    """All workers stand still without a job while another batch comes, and the watch believes that they run."""

    name, sentence = "stall", "jobs have waited"

    def harm(self, trial, node):
        totals = trial.program.totals()
        if trial.producer.thread.is_alive() or totals["done"] + totals["failed"] < totals["enqueued"]:
            return False
        for worker in trial.fleet.workers:
            worker.signal(signal.SIGSTOP)
        status = trial.program.status(seconds=15)
        if not status or status["jobs"]["active"]:
            # They had just begun with other jobs.
            for worker in trial.fleet.workers:
                worker.signal(signal.SIGCONT)
            return False
        urls = [f"http://127.1.{number}.1:{trial.origin.port}/s/late" for number in range(40)]
        trial.program.run("enqueue", *urls, "--batch", "late")
        until("a complaint, or none", lambda: trial.watch.complaints, 4 * trial.watch.limit)
        return True


class Lease(Plant):
    """A worker that does not exist holds something without a lease."""

    name, sentence = "lease", "doctor finds"

    def harm(self, trial, node):
        return redis(node, "HSET", "{gannet}holder:stranger", "l:0123456789abcdef", "1")


class Leak(Plant):
    """Jobs follow a URL that nobody will ever fetch."""

    name, sentence = "leak", "keys are left"

    def harm(self, trial, node):
        return redis(node, "RPUSH", "{gannet}q:default:followers:0123456789abcdef", "b")


PLANTS = [LostJob, LostLock, ChangedBody, WrongCount, Repeat, DeadJob, Stall, Lease, Leak]


def find(name):
    return next(plant for plant in PLANTS if plant.name == name)
