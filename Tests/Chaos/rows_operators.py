"""Rows in which nothing breaks, and operators act; and the calm row, which planted faults are tried on."""

import time

from rows import row


@row("calm", "nothing happens: its faults are steps that do nothing")
def calm(trial):
    # A planted fault is found sooner by a short lease.
    trial.lease = 2
    trial.node()
    trial.begin(workers=4)
    trial.disturb([nothing])


def nothing(random):
    return None


@row("operators", "retry, delete, cancel, pause, resume, purge of another queue, drained workers, rules for hosts, all at random")
def operators(trial):
    trial.node()
    trial.begin()
    program = trial.program

    def call(*words):
        done = program.run(*words, check=False, seconds=60)
        return f"{done.returncode} {(done.stdout or done.stderr).strip()[:80]}"

    def dead_retried(random):
        told = call("jobs", "retry", "--class", "http-404", "--yes", "--json")
        # Each of them may be asked for once more: they answer 404 again.
        trial.asked_again += 2 * trial.jobs // 100 + 20
        return told

    def jobs_deleted(random):
        return call("jobs", "delete", "--state", "ready", "--limit", random.randint(1, 20), "--yes")

    def batch_cancelled(random):
        accepted = list(trial.producer.accepted)
        return call("batch", "cancel", random.choice(accepted)) if random.random() < 0.3 else "none this time"

    def paused_and_resumed(random):
        told = call("pause")
        time.sleep(random.uniform(0.1, 1))
        return told + call("resume")

    def other_queue_purged(random):
        names = [f"http://127.9.{number}.1:{trial.origin.port}/s/other" for number in range(50)]
        told = call("enqueue", *names, "--queue", "other")
        return told + call("purge", "--queue", "other", "--yes")

    def worker_drained(random):
        return call("workers", "drain", "--all", "--no-wait") if random.random() < 0.2 else "none this time"

    def host_slowed(random):
        host = f"127.1.{random.randrange(40)}.1:{trial.origin.port}"
        told = call("hosts", "set", host, "--limit", "1")
        time.sleep(random.uniform(0.1, 1))
        return told + call("hosts", "clear", host)

    def looked_after(random):
        return call("doctor", "--json")

    kinds = [dead_retried, jobs_deleted, jobs_deleted, batch_cancelled, paused_and_resumed, other_queue_purged, worker_drained, host_slowed, looked_after]
    trial.disturb(kinds, pause=0.4)
    call("resume")
