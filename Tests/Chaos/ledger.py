"""Compares, from outside, what was accepted, what has ended, what the origin was asked, and what is left in Redis."""

import hashlib
import json
import time

from base import say, until
from origin import body_of
from watch import keys_of, redis

# Above so many URLs only some batches are exported, drawn by the seed, and only their bodies are read.
BODIES = 15_000


class Ledger:
    def __init__(self, trial):
        self.trial, self.program, self.producer = trial, trial.program, trial.producer
        self.wrong, self.facts = [], {}

    def check(self, is_right, sentence):
        if not is_right:
            self.wrong.append(sentence)

    def count_loss(self):
        """After a loss that the documentation permits: what is gone is counted, mended, and accepted again."""
        findings = self.doctor()
        if findings:
            say(f"doctor finds after the loss: {findings}")
            fixed = self.program.run("doctor", "--fix", "--yes", check=False, seconds=120)
            say(f"doctor --fix: {fixed.returncode} {fixed.stdout.strip()[:300]}")
        self.facts["found"] = len(findings)
        lost = 0
        for name, urls in self.producer.accepted.items():
            known = self.batch(name)
            before = known["total"] if known else 0
            self.producer.enqueue(name, again=True)
            after = self.batch(name)
            self.check(after and after["total"] == len(urls), f"after the second run the batch {name} has {after and after['total']} jobs of {len(urls)}")
            lost += max(0, len(urls) - before)
        # A batch that is complete takes nothing again. Outcomes and bodies that are gone come back by a batch of another name.
        for name, urls in list(self.producer.accepted.items()):
            other = f"again-{name}"
            (self.producer.folder / other).write_text("\n".join(urls) + "\n")
            self.producer.batches[other] = urls
            self.producer.enqueue(other)
        self.facts["lost"] = lost
        self.check(not lost or not self.trial.row.keeps_accepted, f"{lost} jobs are lost that were reported as accepted")
        say(f"{lost} jobs that were accepted had been forgotten; the producer's second run has named them")

    def batch(self, name):
        done = self.program.run("batch", "show", name, "--json", check=False, seconds=60)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def doctor(self):
        done = self.program.run("doctor", "--json", check=False, seconds=120)
        try:
            found = json.loads(done.stdout)["findings"]
        except (ValueError, KeyError):
            return [f"doctor ended with {done.returncode}: {done.stderr.strip()[:200]}"]
        # A large row reads, and fetches again, the bodies of some batches only.
        found = [item for item in found if not (self.trial.row.evicts and item.get("kind") == "bodyEvicted")]
        return [f"{item.get('kind')} {item.get('count', '')} {item.get('name') or item.get('key') or ''}".strip() for item in found]

    def ends_once(self):
        """Invariant 1: each accepted job has ended once; batches, manifests and counters agree."""
        status = until("an answer of `status`", lambda: self.program.status(30))
        totals, jobs = status["totals"], status["jobs"]
        self.facts["totals"] = totals
        self.facts["poison"] = sum(failure["count"] for failure in status["failures"] if failure["class"] == "poison")
        accepted = sum(map(len, self.producer.accepted.values()))
        self.facts["accepted"] = accepted
        self.check(totals["enqueued"] == accepted, f"{accepted} jobs were accepted, and {totals['enqueued']} count as enqueued")
        ended = totals["done"] + totals["failed"] + totals["cancelled"]
        self.check(ended == accepted, f"{ended} jobs have ended of {accepted}: {totals}")
        done = totals["fetched"] + totals["revalidated"] + totals["cached"]
        self.check(totals["done"] == done, f"{totals['done']} are done, and their kinds make {done}")
        open_jobs = {state: count for state, count in jobs.items() if state != "dead" and count}
        self.check(not open_jobs, f"jobs are left: {open_jobs}")
        sums = {"done": 0, "failed": 0, "cancelled": 0}
        for name, urls in self.producer.accepted.items():
            batch = self.batch(name)
            if not batch:
                self.wrong.append(f"the batch {name} is unknown")
                continue
            self.check(batch["total"] == len(urls), f"the batch {name} has {batch['total']} jobs of {len(urls)}")
            for kind in sums:
                sums[kind] += batch[kind]
            left = {state: batch[state] for state in ["ready", "active", "parked", "delayed"] if batch[state]}
            self.check(not left, f"jobs of the batch {name} are left: {left}")
            ended = batch["done"] + batch["failed"] + batch["cancelled"]
            self.check(ended == batch["total"], f"{ended} jobs of the batch {name} have ended, and it had {batch['total']}")
        for kind, count in sums.items():
            self.check(totals[kind] == count, f"{totals[kind]} jobs are {kind}, and the batches have {count} of them")

    def evicted(self):
        """How many bodies made room for others, as the product says. Where that may be, they are fetched again."""
        count = 0
        for name in self.producer.accepted:
            words = ["export", "--batch", name, "--dir", self.trial.folder / "evicted" / name, "--json"]
            done = self.program.run(*words, check=False, seconds=600)
            count += json.loads(done.stdout.splitlines()[-1])["summary"]["evicted"] if done.stdout else 0
        self.facts["evicted"] = count
        say(f"{count} bodies had made room for others")
        # Once for the export that fetches it, and once for a job that came later for the same URL.
        self.trial.asked_again += count + self.trial.accepts - len(set().union(*self.producer.batches.values()))
        return ["--refetch", "--allow-net", "all"]

    def bodies(self):
        """Invariants 1, 2 and 4: the manifest names each URL of a batch once, every body is right, and only what cannot be fetched is dead."""
        read = 0
        words = [*self.trial.store_words, *(self.evicted() if self.trial.row.evicts else [])]
        for name, urls in self.trial.random.sample(list(self.producer.accepted.items()), len(self.producer.accepted)):
            if read and read + len(urls) > BODIES:
                break
            read += len(urls)
            folder = self.trial.folder / "export" / name
            done = self.program.run("export", "--batch", name, "--dir", folder, *words, check=False, seconds=600)
            manifest = folder / "manifest.jsonl"
            if not manifest.exists():
                self.wrong.append(f"export of the batch {name} ended with {done.returncode}: {done.stderr.strip()[:200]}")
                continue
            wanted, seen = set(urls), set()
            for line in manifest.read_text().splitlines():
                row = json.loads(line)
                url = row["url"]
                if url is None:
                    self.wrong.append(f"the manifest of {name} does not know the URL of its row {row['finished']}: {row['error']}")
                    continue
                self.check(url in wanted, f"the manifest of {name} has {url}, which nobody accepted")
                self.check(url not in seen, f"the manifest of {name} has {url} twice")
                seen.add(url)
                expected = body_of(url)
                error = row.get("error") or {}
                kind = error.get("class") if isinstance(error, dict) else error
                if expected is None:
                    self.check(row["outcome"] == "failed", f"{url} answers 404 and is {row['outcome']}")
                elif row["outcome"] == "failed" and kind == "poison" and self.trial.kills:
                    pass  # by documentation: three workers died with it
                elif row["outcome"] == "failed":
                    self.wrong.append(f"{url} can be fetched and is {row['outcome']}: {error}")
                else:
                    self.check((row["bytes"], row["sha256"]) == expected, f"the manifest has another body of {url}: {row['bytes']} bytes")
                    self.check(self.is_whole(folder / row["file"], expected), f"the body of {url} is not whole: {folder / row['file']}")
            batch = self.batch(name) or {}
            missing = len(wanted - seen)
            self.check(missing <= batch.get("cancelled", 0), f"{missing} URLs of {name} are not in its manifest, for example {sorted(wanted - seen)[:1]}")
        self.facts["bodies"] = read

    def is_whole(self, file, expected):
        try:
            data = file.read_bytes()
        except OSError:
            return False
        return (len(data), hashlib.sha256(data).hexdigest()) == expected

    def none_dead(self):
        """Invariant 4, by counters: as many jobs are dead as have a URL without a body. A URL that three workers died with may be among them."""
        totals = self.facts["totals"]
        hopeless = sum(body_of(url) is None for urls in self.producer.accepted.values() for url in urls)
        least = hopeless - totals["cancelled"]
        most = hopeless + (self.facts["poison"] if self.trial.kills else 0)
        self.check(least <= totals["failed"] <= most, f"{totals['failed']} jobs have failed, and {hopeless} had to; {self.facts['poison']} are poison")

    def requests(self):
        """Invariant 3: the origin was asked once for each URL, and again only where the product's counts say so."""
        asked, answered = self.trial.origin.requests()
        strip = f":{self.trial.origin.port}"
        wanted = {url.removeprefix("http://").replace(strip, "", 1): url for urls in self.producer.accepted.values() for url in urls}
        requests, distinct, totals = sum(asked.values()), len(asked), self.facts["totals"]
        # A worker whose folder is full gives one more job back than it notes: the one whose body had no room.
        events = self.trial.fleet.events()
        handed = events.get("handedBack", 0) + self.trial.fleet.exits.get(74, 0)
        # A worker that is asked to end twice leaves jobs. Redis may have taken these back by then, and charges the others a crash.
        handed += max(0, events.get("left", 0) - totals["crashed"])
        self.facts |= {"requests": requests, "repeats": requests - distinct, "handed": handed}
        strangers = [name for name in asked if name not in wanted]
        self.check(not strangers, f"the origin was asked for {strangers[:3]}, which nobody accepted")
        unasked = [name for name in wanted if name not in asked]
        self.check(len(unasked) <= totals["cancelled"] + self.facts.get("poison", 0), f"{len(unasked)} URLs were never asked for, for example {unasked[:3]}")
        unanswered = [name for name, url in wanted.items() if body_of(url) and name in asked and not answered[name]]
        self.check(len(unanswered) <= totals["cancelled"] + self.facts.get("poison", 0), f"{len(unanswered)} URLs were never answered whole: {unanswered[:3]}")
        if self.trial.row.loses or self.trial.row.uncounted:
            return
        # Each end of a row with `jobs retry` permits another request.
        bound = totals["retried"] + totals["crashed"] + handed + totals["doubleFetches"] + self.trial.asked_again
        self.check(
            requests - distinct <= bound,
            f"{requests - distinct} requests were repeats; counted are {totals['retried']} retries, {totals['crashed']} crashes, {handed} hand-backs, "
            f"{totals['doubleFetches']} double fetches and {self.trial.asked_again} repeats by operators: {[pair for pair in asked.most_common(3)]}",
        )

    def nothing_leaks(self):
        """Invariant 6: what is left in Redis once no worker is left, and in the workers before they end."""
        drained = {worker.process.pid for worker in self.trial.fleet.workers}
        self.wrong += self.trial.fleet.stop()
        self.taken_back()
        listed = json.loads(self.program.run("workers", "list", "--json", check=False).stdout or "{}").get("workers", [])
        # A worker that was killed is listed for ten minutes.
        left = [worker["id"] for worker in listed if worker["pid"] in drained]
        self.check(not left, f"workers are listed that have ended in good order: {left}")
        findings = self.doctor()
        self.check(not findings, f"doctor finds {findings}")
        for node in self.trial.primaries():
            for pattern in ["*locks", "*followers:*", "*aside:*", "*ready:*", "*timers:*"]:
                keys = keys_of(node, "{gannet*" + pattern)
                self.check(not keys, f"keys are left in Redis: {keys[:5]}")
            self.check(not self.still_held(node), f"workers that have ended still hold something: {self.still_held(node)[:5]}")
            for key in keys_of(node, "{gannet*}leases"):
                alive = redis(node, "ZCOUNT", key, "(0", "+inf")
                self.check(alive and int(alive[0].split()[-1]) <= 1, f"leases of workers that have ended go on: {alive}")
        if not self.trial.row.loses and len(self.trial.primaries()) == 1:
            node = self.trial.primaries()[0]
            kept, noted = len(keys_of(node, "{gannet:blob}:*")), (redis(node, "ZCARD", "{gannet:blob}s") or ["(integer) -1"])[0].split()[-1]
            # A worker that is killed between its note and its body leaves the note, which goes when its turn comes.
            is_right = kept <= int(noted) if self.trial.kills else kept == int(noted)
            self.check(is_right, f"Redis has {kept} bodies, and its index has {noted}")

    def taken_back(self):
        """Leases end only while somebody calls: a last worker does, until it alone is left in each server."""
        fleet = self.trial.fleet
        # It speaks to Redis itself, where the others had a proxy.
        fleet.program = self.program
        fleet.wanted, fleet.words, fleet.each = 1, [*self.trial.store_words], lambda place: {}
        fleet.workers = []
        fleet.start()
        end = time.monotonic() + 3 * fleet.lease + 20
        while time.monotonic() < end and any(map(self.still_held, self.trial.primaries())):
            time.sleep(0.2)
        self.wrong += fleet.stop()

    def still_held(self, node):
        """Of each partition, one worker may be noted: the last one to call."""
        names = sorted(keys_of(node, "{gannet*}holder:*"))
        tags = [name.partition("}")[0] for name in names]
        return [name for name, tag in zip(names, tags) if tags.count(tag) > 1]

    def workers_have_not_grown(self):
        """The descriptors and the memory of workers that have nothing to do."""
        files, memory = [], []
        for worker in self.trial.fleet.alive():
            sockets, others = worker.files()
            files.append((sockets, others))
            memory.append(worker.megabytes())
        if files:
            fewest = min(others for _, others in files)
            most = max(others for _, others in files)
            # A worker that saw all faults has what one has that saw the last of them.
            self.check(most <= fewest + 16, f"a worker has {most} descriptors besides connections, and another has {fewest}")
            self.check(max(sockets for sockets, _ in files) <= 32 + 2 * self.trial.places, f"a worker has {max(files)[0]} connections, with {self.trial.places} places")
            self.check(max(memory) <= 200, f"an idle worker has {max(memory)} MB")
        self.facts["memory"] = max(memory, default=0)

    def settle(self, patience):
        """Waits until all jobs have ended. Complains when none ends for so long."""
        last, since = None, time.monotonic()
        while True:
            self.trial.fleet.tend()
            now = self.program.totals()
            if now:
                left = now["enqueued"] - now["done"] - now["failed"] - now["cancelled"]
                if left <= 0:
                    return
                if now != last:
                    last, since = now, time.monotonic()
            if time.monotonic() - since > patience:
                status = self.program.status()
                self.wrong.append(f"jobs do not end for {patience} s: {json.dumps(status)[:700] if status else 'status has no answer'}")
                return
            time.sleep(0.2)
