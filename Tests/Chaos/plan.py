"""A plan of faults: which, when, and with which numbers. The same seed makes the same plan, and the load says how far it goes."""

import random
import time

from base import say


class Plan:
    """Faults follow each other with random pauses. Each kind comes once before any comes twice."""

    def __init__(self, seed, kinds, pause):
        self.random, self.kinds, self.pause, self.order = random.Random(seed), kinds, pause, []

    def step(self):
        if not self.order:
            self.order = list(self.kinds)
            self.random.shuffle(self.order)
        # Each step has a generator of its own: how long an earlier step took changes no later one.
        return self.order.pop(), self.random.uniform(0.4 * self.pause, 1.6 * self.pause), self.random.getrandbits(32)

    def run(self, least, goes_on, after):
        """At least so many faults, and more while it goes on. `after` is called after each step, and while the plan waits."""
        count = 0
        while count < least or goes_on():
            fault, pause, seed = self.step()
            until = time.monotonic() + pause
            while (left := until - time.monotonic()) > 0:
                after()
                time.sleep(min(0.1, left))
            name = fault.__name__.strip("_").replace("_", " ")
            told = fault(random.Random(seed))
            say(f"fault: {name}{': ' + str(told) if told is not None else ''}")
            count += 1
            after()
        return count
