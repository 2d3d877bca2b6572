"""The targets of the package: which tests may find a fault in a target."""

import collections
import dataclasses
import functools


@dataclasses.dataclass(frozen=True)
class Target:
    name: str
    path: str
    is_test: bool
    needs: tuple[str, ...]
    sources: int


class Package:
    """The package as `swift package describe --type json` describes it."""

    def __init__(self, described: dict):
        self.targets = {
            one["name"]: Target(
                one["name"], one["path"], one["type"] == "test", tuple(one.get("target_dependencies", [])), len(one.get("sources", []))
            )
            for one in described["targets"]
        }

    def target_of(self, file: str) -> str | None:
        return next((one.name for one in self.targets.values() if file.startswith(one.path + "/")), None)

    def reachable(self, name: str, through_helpers: bool = True) -> set[str]:
        """All targets that this one is built with, also those that helpers of the tests bring along."""
        found, left = set(), collections.deque([name])
        while left:
            one = self.targets.get(left.popleft())
            if one and one.name not in found:
                found.add(one.name)
                if through_helpers or one.name == name or not one.path.startswith("Tests/"):
                    left.extend(one.needs)
        return found

    @functools.cache
    def tests_of(self, target: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """The test targets in the order in which they run: the target's own, all others that are built with it, and the rest.

        The own one uses the target directly and needs the fewest others, because most of its tests are about the target.
        """
        tests = [one for one in self.targets.values() if one.is_test]

        def distance(test: Target) -> tuple:
            own = self.reachable(test.name, through_helpers=False)
            return target not in test.needs, target not in own, len(own), -test.sources, test.name

        users = sorted((one for one in tests if target in self.reachable(one.name)), key=distance)
        rest = sorted(one.name for one in tests if one not in users)
        return tuple(one.name for one in users[:1]), tuple(one.name for one in users[1:]), tuple(rest)

    def room(self, target: str) -> str | None:
        """The room of a target, named as its tests are."""
        own = self.tests_of(target)[0]
        return own[0].removesuffix("Tests") if own else None
