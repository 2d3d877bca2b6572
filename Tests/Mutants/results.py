"""The results: a file with a line of JSON for each fault, the table at the end, and the survivors that maintainers have explained."""

import collections
import json
import pathlib
import re

from draw import Choice
from faults import KINDS, Fault

FOUND, SURVIVED, REFUSED, ABSENT = "found", "survived", "does not compile", "not there"


class Mismatch(Exception):
    """The file has the results of another draw."""


class Results:
    """All results of a draw, in the order in which they came. With a file, also those of earlier runs."""

    def __init__(self, file: pathlib.Path | None, draw: dict):
        self.file, self.draw, self.records = file, draw, []
        if file and file.exists():
            # A run that was killed may have left half a line.
            text = file.read_text()
            complete, _, rest = text.rpartition("\n")
            try:
                self.records = [json.loads(line) for line in complete.split("\n") if line.strip()]
            except json.JSONDecodeError as error:
                raise Mismatch(f"{file} has no results of this program ({error}); name another file") from None
            if rest:
                file.write_text(complete + "\n" if complete else "")
        for record in self.records:
            other = {key: record.get(key) for key in draw}
            if other != draw:
                raise Mismatch(f"{file} has the results of another draw ({other}, and this is {draw}); name another file")

    def add(self, choice: Choice, fault: Fault, verdict: str, **more) -> dict:
        place = {"number": choice.number, "file": fault.file, "line": fault.line, "room": choice.room, "kind": fault.kind}
        record = place | {"verdict": verdict} | more | {"before": fault.old.strip(), "after": fault.new.strip()} | self.draw
        self.records.append(record)
        if self.file:
            with self.file.open("a") as file:
                file.write(json.dumps(record, ensure_ascii=False) + "\n")
        return record

    def refused(self, number: int) -> int:
        """How many faults of a number are known not to compile."""
        refused = [record for record in self.records if record["number"] == number and record["verdict"] == REFUSED]
        return len({(record["file"], record["line"], record["after"]) for record in refused})

    def is_done(self, number: int) -> bool:
        return any(record["number"] == number and record["verdict"] != REFUSED for record in self.records)

    def last(self) -> list[dict]:
        """The last verdict of each number."""
        last = {record["number"]: record for record in self.records if record["verdict"] != REFUSED}
        return [last[number] for number in sorted(last)]


class Survivors:
    """Tests/Mutants/survivors.md: faults that no test finds. A line of its table is `file`, `before` becomes `after`, the reason."""

    def __init__(self, file: pathlib.Path):
        self.known = set()
        for line in file.read_text().split("\n") if file.exists() else []:
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            change = re.fullmatch(r"`+ ?(.*?) ?`+ becomes `+ ?(.*?) ?`+", cells[1].replace("\\|", "|")) if len(cells) == 3 else None
            if change:
                self.known.add((cells[0].strip("`"), change[1], change[2]))

    def has(self, file: str, old: str, new: str) -> bool:
        return (file, old.strip(), new.strip()) in self.known


def quoted(text: str) -> str:
    """Code in a cell of a table."""
    marks = "``" if "`" in text else "`"
    pad = " " if "`" in text else ""
    return f"{marks}{pad}{text}{pad}{marks}".replace("|", "\\|")


def row(record: dict) -> str:
    """A survivor as Tests/Mutants/survivors.md has it, without the reason."""
    return f"| `{record['file']}` | {quoted(record['before'])} becomes {quoted(record['after'])} | |"


def report(results: Results, survivors: Survivors) -> str:
    records = results.last()
    lines = []
    for title, names in [("room", sorted({record["room"] for record in records})), ("kind", list(KINDS))]:
        lines += ["", f"{title:16} {'found':>6} {'planted':>8} {'share':>6}"]
        planted = collections.Counter(record[title] for record in records if record["verdict"] in (FOUND, SURVIVED))
        found = collections.Counter(record[title] for record in records if record["verdict"] == FOUND)
        for name, good, all_ in [(name, found[name], planted[name]) for name in names] + [("all", found.total(), planted.total())]:
            if all_:
                lines.append(f"{name:16} {good:6} {all_:8} {good / all_:6.0%}")
    refused = sum(record["verdict"] == REFUSED for record in results.records)
    absent = sum(record["verdict"] == ABSENT for record in records)
    if refused:
        lines += ["", f"{refused} more did not compile, and others took their place."]
    if absent:
        lines += ["", f"{absent} have no place in this commit."]
    alive = [record for record in records if record["verdict"] == SURVIVED]
    lines += ["", "No test finds these:" if alive else "Tests found all of them."]
    for record in alive:
        known = ", known" if survivors.has(record["file"], record["before"], record["after"]) else ""
        lines.append(f"{record['number']:4} {record['file']}:{record['line']} ({record['room']}, {record['kind']}{known})")
        lines += [f"     - {record['before']}", f"     + {record['after']}"]
    fresh = [record for record in alive if not survivors.has(record["file"], record["before"], record["after"])]
    if fresh:
        lines += ["", "A fault that changes nothing gets a row in Tests/Mutants/survivors.md, with the reason:"]
        lines += [row(record) for record in fresh]
    return "\n".join(lines)
