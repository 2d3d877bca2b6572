"""Says which rooms' tests can notice a change.

  rooms.py --list | --changed COMMIT

--list: all rooms. --changed: the rooms whose tests use a target with a file that differs from COMMIT, directly or through other targets.
Files that are not committed count. Ends with 0, or with 1 where Package.swift cannot be read.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

# Files outside targets that tests read. All others, such as trials in Python, have no test in a room.
READ = [
    (r"^Package\.swift$", None),
    (r"^(README|CONTRIBUTING|CHANGELOG|SECURITY)\.md$|^Docs/|^Benchmarks/[^/]*\.md$", ["Fetch"]),
    (r"^Docs/(COMMANDS|REDIS)\.md$", ["Command"]),
    (r"^Tests/Proof/faults\.json$", ["Crawl"]),
]
# A document may name a file that has come or gone, and its test looks for it.
NAMES_FILES = "Fetch"


def output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def targets():
    described = subprocess.run(["swift", "package", "describe", "--type", "json"], capture_output=True, text=True)
    if described.returncode:
        print("rooms: `swift package describe` failed: is Package.swift in order?", file=sys.stderr)
        sys.exit(1)
    return {target["name"]: target for target in json.loads(described.stdout)["targets"]}


def users(targets):
    """target → all targets that use it, itself too."""
    uses = {name: set(target.get("target_dependencies", [])) for name, target in targets.items()}

    def closure(name, seen):
        if name not in seen:
            seen.add(name)
            for other in uses.get(name, ()):
                closure(other, seen)
        return seen

    result = {name: set() for name in targets}
    for name in targets:
        for used in closure(name, set()):
            result.setdefault(used, set()).add(name)
    return result


def changed_files(commit):
    """Each with whether it has come or gone."""
    found = {}
    words = output("git", "diff", "--name-status", "--no-renames", "-z", commit).split("\0")
    for state, file in zip(words[::2], words[1::2]):
        found[file] = state in "AD"
    for file in output("git", "ls-files", "--others", "--exclude-standard", "-z").split("\0"):
        if file:
            found[file] = True
    return sorted(found.items())


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--list", action="store_true")
    action.add_argument("--changed", metavar="COMMIT")
    options = parser.parse_args()
    all_targets = targets()
    rooms = [name.removesuffix("Tests") for name, target in all_targets.items() if target["type"] == "test"]
    if options.list:
        print(*sorted(rooms))
        return
    used_by = users(all_targets)
    touched, other = set(), []
    for file, has_come_or_gone in changed_files(options.changed):
        owners = [name for name, target in all_targets.items() if pathlib.PurePath(target["path"]) in pathlib.PurePath(file).parents]
        readers = [found for pattern, found in READ if re.search(pattern, file)]
        if has_come_or_gone:
            readers.append([NAMES_FILES])
        if None in readers:
            touched.update(rooms)
        for owner in owners:
            touched.update(user.removesuffix("Tests") for user in used_by[owner] if all_targets[user]["type"] == "test")
        for found in readers:
            touched.update(found or [])
        if not owners and not readers:
            other.append(file)
    if other:
        print(f"rooms: no test in a room reads {', '.join(other[:5])}{' and others' if len(other) > 5 else ''}", file=sys.stderr)
    print(*sorted(touched & set(rooms)))


main()
