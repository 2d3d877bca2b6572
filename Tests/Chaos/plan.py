"""A plan of faults: which, when, and with which numbers. The same seed makes the same plan."""

import time

from base import say


class Plan:
    """Faults follow each other with random pauses. Each kind comes once before any comes twice."""

    def __init__(self, random, kinds, count, pause):
        self.steps = []
        order = []
        while len(self.steps) < count:
            if not order:
                order = list(kinds)
                random.shuffle(order)
            # Each step has a generator of its own: how long an earlier step took changes no later one.
            self.steps.append((order.pop(), random.uniform(0.4 * pause, 1.6 * pause), random.getrandbits(32)))

    def run(self, make_random, after):
        """`after` is called after each step, and while the plan waits."""
        for fault, pause, seed in self.steps:
            until = time.monotonic() + pause
            while (left := until - time.monotonic()) > 0:
                after()
                time.sleep(min(0.1, left))
            name = fault.__name__.strip("_").replace("_", " ")
            told = fault(make_random(seed))
            say(f"fault: {name}{': ' + str(told) if told is not None else ''}")
            after()
        return len(self.steps)
