"""Which faults a seed chooses.

Each room has its share of all faults by its lines of code, and the scripts in Lua have at least a fifth. Each kind of fault has its share
too. A number has a list of its own: the first fault that compiles is planted. So no number depends on the results of another one.
"""

import collections
import dataclasses
import pathlib
import random
import subprocess
from collections.abc import Iterator

from faults import KINDS, Fault, Finder, code_lines
from package import Package

LEAST_OF_LUA = 0.2


@dataclasses.dataclass(frozen=True)
class Pool:
    """The files of a room in one language."""

    room: str
    is_lua: bool


@dataclasses.dataclass
class Choice:
    """The faults that may be planted under a number, the next one in place of a fault that does not compile."""

    number: int
    room: str
    faults: list[Fault]


def sources(root: pathlib.Path, revision: str) -> Iterator[tuple[str, str]]:
    """The path and the text of each file of Sources, as committed."""
    listed = subprocess.run(["git", "ls-tree", "-r", "-z", "--name-only", revision, "Sources"], cwd=root, check=True, capture_output=True)
    paths = [path for path in listed.stdout.decode().split("\0") if path.endswith((".swift", ".lua"))]
    asked = "".join(f"{revision}:{path}\n" for path in paths).encode()
    blobs = subprocess.run(["git", "cat-file", "--batch"], cwd=root, input=asked, check=True, capture_output=True).stdout
    at = 0
    for path in paths:
        end = blobs.index(b"\n", at)
        size = int(blobs[at:end].split()[2])
        yield path, blobs[end + 1 : end + 1 + size].decode()
        at = end + size + 2


def shares(weights: dict, count: int) -> dict:
    """The count divided by weights, in whole numbers: the largest remainders get what is left."""
    total = sum(weights.values())
    exact = {key: count * weight / total for key, weight in weights.items()}
    parts = {key: int(value) for key, value in exact.items()}
    for key in sorted(exact, key=lambda key: parts[key] - exact[key])[: count - sum(parts.values())]:
        parts[key] += 1
    return parts


def weights_of(lines: dict[Pool, int]) -> dict[Pool, float]:
    lua = sum(count for pool, count in lines.items() if pool.is_lua)
    rest = sum(lines.values()) - lua
    factor = max(1.0, LEAST_OF_LUA * rest / (1 - LEAST_OF_LUA) / lua) if lua else 1.0
    return {pool: count * (factor if pool.is_lua else 1) for pool, count in lines.items()}


def draw(seed: int, count: int, package: Package, files: list[tuple[str, str]]) -> list[Choice]:
    generator = random.Random(seed)
    lines: dict[Pool, int] = collections.Counter()
    found: dict[Pool, dict[str, list[Fault]]] = collections.defaultdict(lambda: collections.defaultdict(list))
    for path, text in files:
        target = package.target_of(path)
        room = package.room(target) if target else None
        if room:
            pool = Pool(room, path.endswith(".lua"))
            lines[pool] += code_lines(text, pool.is_lua)
            for fault in Finder(path, text).faults():
                found[pool][fault.kind].append(fault)
    for kinds in found.values():
        for faults in kinds.values():
            generator.shuffle(faults)

    kinds = [kind for kind, part in shares(KINDS, count).items() for _ in range(part)]
    pools = [pool for pool, part in shares(weights_of(lines), count).items() for _ in range(part)]
    generator.shuffle(kinds)
    generator.shuffle(pools)
    pairs = []
    for pool, kind in zip(pools, kinds):
        # A kind that the room has no place for makes way for one that it has.
        if not found[pool][kind]:
            own = [name for name, faults in sorted(found[pool].items()) if faults]
            kind = generator.choices(own, [KINDS[name] for name in own])[0]
        pairs.append((pool, kind))

    of_pair, taken, choices = collections.Counter(pairs), collections.Counter(), []
    for number, (pool, kind) in enumerate(pairs, 1):
        # The numbers of a pair take turns in its faults, so that no two of them plant the same one.
        own = found[pool][kind][taken[pool, kind] :: of_pair[pool, kind]]
        taken[pool, kind] += 1
        choices.append(Choice(number, pool.room, own))
    return choices
