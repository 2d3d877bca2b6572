"""The memory and the descriptors of processes over a long run, and whether they have grown."""

import dataclasses
import os
import statistics

# How much is no growth: both bounds have to be passed, a part of what there was and an amount.
MEMORY, DESCRIPTORS = (0.1, 8_000_000), (0.1, 8)


def memory_of(pid):
    """In bytes."""
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def descriptors_of(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def start_of(seconds):
    """The second at which a run of so many is warm: caches are full, and pools of connections have reached their size."""
    return seconds / 6


@dataclasses.dataclass
class Series:
    """The samples of one process in the order of time: second, memory, and descriptors where it has any."""

    name: str
    # Whether its memory has to stay as it is.
    is_bounded: bool = True
    samples: list = dataclasses.field(default_factory=list)

    def add(self, second, memory, descriptors=None):
        self.samples.append((second, memory, descriptors))

    def points(self, column, scale=1):
        """Pairs of a minute and a value."""
        return [(sample[0] / 60, sample[column] / scale) for sample in self.samples if sample[column] is not None]

    def quarters(self, column, seconds):
        """The medians of the first quarter after warming up, and of the last quarter."""
        start = start_of(seconds)
        quarter = (seconds - start) / 4
        first = [sample[column] for sample in self.samples if start <= sample[0] < start + quarter and sample[column] is not None]
        last = [sample[column] for sample in self.samples if sample[0] >= seconds - quarter and sample[column] is not None]
        return (statistics.median(first), statistics.median(last)) if first and last else None

    def has_grown(self, seconds):
        memory, descriptors = self.quarters(1, seconds), self.quarters(2, seconds)
        return self.is_bounded and is_passed(MEMORY, memory) or is_passed(DESCRIPTORS, descriptors)


def is_passed(bound, quarters):
    part, amount = bound
    return bool(quarters) and quarters[1] - quarters[0] > max(amount, quarters[0] * part)


def table_of(series):
    """A line a sample."""
    lines = [f"{second},{each.name},{memory},{'' if descriptors is None else descriptors}" for each in series for second, memory, descriptors in each.samples]
    return "\n".join(["second,process,memory,descriptors", *lines, ""])
