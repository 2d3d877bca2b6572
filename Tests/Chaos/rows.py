"""The list of all rows. A row plays its part with a trial, and is found by its name."""

import dataclasses
import typing


@dataclasses.dataclass
class Row:
    name: str
    about: str
    play: typing.Callable
    # Redis may lose by documentation what it was told, so the ledger counts losses and goes by the second run.
    loses: bool = False
    # Of that, no job that was reported as accepted.
    keeps_accepted: bool = False
    # Bodies may be evicted, because Redis' memory is full.
    evicts: bool = False
    # Why requests are not bounded by the product's own counts here, or nothing.
    uncounted: str = ""
    # Looks for the right that the row needs, and answers what is missing here.
    missing: typing.Callable = lambda: None
    # How long the load of a small trial lasts, and the most that a small trial may take.
    seconds: float = 6
    limit: int = 170


ROWS = []


def row(name, about, **options):
    def add(play):
        ROWS.append(Row(name, about, play, **options))
        return play

    return add


def find(name):
    return next((row for row in ROWS if row.name == name), None)
