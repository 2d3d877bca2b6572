"""Plants faults in Sources one at a time, and says which of them no test finds.

  Scripts/mutants --seed N [--count 50]          plants so many faults that the seed draws from all rooms, and runs the tests for each
  Scripts/mutants --list --seed N [--count 50]   only lists them: number, file and line, room, kind, the change
  Scripts/mutants --only 7,12 --seed N           some of them again
  Scripts/mutants --patch 7 --seed N             prints fault 7 as a diff, which `git apply` takes

  --results FILE   a line of JSON for each fault. A run with the same seed goes on where the file ends
  --commit REV     plants the same faults in an older commit. A place that is not in that commit is left out
  --no-baseline    trusts that the tests pass without a fault

Most faults are built together, and switched on one after the other. The others are built by themselves. The tests of a fault's own room run
until one fails. When all pass, the tests of all rooms that are built with the changed target run. The others never see it. A test that
fails, a crash, and a hang all find the fault. Where the failed test passes alone, and after a crash or a hang, the stage runs once more.
A fault that does not compile makes way for the next one of its room and kind.
`.build/mutants/logs` has what the tests printed.

The faults are those of HEAD as it is committed. Ends with 0 when all were tried, 1 when the tests fail without a fault, 64 for wrong
arguments, and 69 when something is missing.
"""

import argparse
import contextlib
import difflib
import pathlib
import signal
import subprocess
import sys
import time

from draw import Choice, draw, sources
from faults import Fault
from results import ABSENT, FOUND, REFUSED, SURVIVED, Mismatch, Results, Survivors, report
from switches import switch
from tree import Broken, Missing, Tree
from trial import Outcome, Trial

ROOT = pathlib.Path(__file__).resolve().parents[2]


def say(text: str) -> None:
    print(f"mutants: {text}", file=sys.stderr, flush=True)


class Arguments(argparse.ArgumentParser):
    def error(self, message: str):
        self.exit(64, f"mutants: {message}; --help says more\n")


def numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",")]


def arguments() -> argparse.Namespace:
    parser = Arguments(prog="Scripts/mutants", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("--seed", type=int, required=True, metavar="N")
    parser.add_argument("--count", type=int, default=50)
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--list", action="store_true")
    action.add_argument("--patch", type=int, metavar="NUMBER")
    action.add_argument("--only", type=numbers, default=[], metavar="NUMBERS")
    parser.add_argument("--results", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--commit", metavar="REV")
    parser.add_argument("--no-baseline", action="store_true")
    options = parser.parse_args()
    named = options.only + ([options.patch] if options.patch is not None else [])
    if options.count < 1:
        parser.error("--count is a number above 0")
    if any(number not in range(1, options.count + 1) for number in named):
        parser.error(f"numbers of faults go from 1 to {options.count}")
    return options


def commit_of(revision: str) -> str | None:
    done = subprocess.run(["git", "rev-parse", "--verify", "--quiet", revision + "^{commit}"], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def diff(fault: Fault, text: str) -> str:
    lines = text.removesuffix("\n").split("\n")
    changed = [*lines[: fault.line - 1], fault.new, *lines[fault.line :]]
    shown = difflib.unified_diff(lines, changed, f"a/{fault.file}", f"b/{fault.file}", lineterm="")
    return "\n".join(shown)


def listed(choice: Choice, fault: Fault, survivors: Survivors) -> str:
    known = "  (known)" if survivors.has(fault.file, fault.old, fault.new) else ""
    return f"{choice.number:3}  {fault.place}  {choice.room}  {fault.kind}  {fault.change}{known}"


class Run:
    """Plants the faults of a draw one after the other."""

    def __init__(self, tree: Tree, package, results: Results, texts: dict[str, str]):
        self.tree, self.package, self.results, self.texts = tree, package, results, texts
        self.logs = tree.home / "logs"
        self.logs.mkdir(exist_ok=True)

    def stages(self, file: str) -> list[tuple[str, ...]]:
        """The test targets that run one after the other for a fault in a file."""
        target = self.package.target_of(file)
        if target is None:
            raise Missing(f"no target has the file {file}")
        own, users, rest = self.package.tests_of(target)
        return [stage for stage in (own, users, () if self.tree.builds_rooms else rest) if stage]

    def trial(self, log: str) -> Trial:
        return Trial(self.tree.folder, self.tree.program, self.logs / f"{log}.txt")

    def baseline(self, choices: list[Choice]) -> None:
        begun = time.monotonic()
        if not self.tree.build():
            raise Broken(f"the tree does not build without a fault:\n{self.tree.output[-3000:]}")
        files = {choice.faults[0].file for choice in choices if choice.faults and self.package.target_of(choice.faults[0].file)}
        for test in sorted({test for file in files for stage in self.stages(file) for test in stage}):
            since = time.monotonic()
            outcome = self.trial("baseline").tests((test,))
            if outcome.how != "passes":
                raise Broken(f"{test} {outcome.how} without a fault: {outcome.finder} ({self.logs}/baseline.txt)")
            say(f"{test} passes without a fault, in {time.monotonic() - since:.0f} s")
        say(f"built and tried without a fault in {time.monotonic() - begun:.0f} s")

    def plant_together(self, choices: list[Choice]) -> None:
        """Tries those whose first fault can be switched on, with one build for all of them."""
        switches, numbers, lines = {}, {}, set()
        for choice in choices:
            fault = next(iter(choice.faults[self.results.refused(choice.number) :]), None)
            # A tree of another commit has the line elsewhere. Of two faults in one line only the first is built with the others.
            if fault is None or self.tree.commit != self.results.draw["commit"] or fault.place in lines:
                continue
            one = switch(fault, choice.number)
            if one:
                switches[fault], numbers[fault] = one, choice
                lines.add(fault.place)
        if not switches:
            return
        begun = time.monotonic()
        with self.tree.built_with(switches) as borne:
            say(f"{len(borne)} of {len(choices)} faults are built together, in {time.monotonic() - begun:.0f} s")
            for fault, choice in numbers.items():
                if fault in borne:
                    self.tree.switched_on.write_text(f"{choice.number}\n")
                    self.tell(self.verdict(choice, fault, fault.file, builds=False))

    def plant(self, choice: Choice) -> None:
        """Tries the first fault of a number that compiles."""
        for fault in choice.faults[self.results.refused(choice.number) :]:
            place = self.place(fault)
            if place is None:
                self.tell(self.results.add(choice, fault, ABSENT))
                return
            with self.tree.planted(*place, fault):
                record = self.verdict(choice, fault, str(place[0].relative_to(self.tree.folder)))
            self.tell(record)
            if record["verdict"] != REFUSED:
                return
        say(f"{choice.number}: no fault of this kind is left in the room {choice.room}")

    def place(self, fault: Fault) -> tuple[pathlib.Path, int] | None:
        if self.tree.commit == self.results.draw["commit"]:
            return self.tree.folder / fault.file, fault.line - 1
        lines = self.texts[fault.file].split("\n")
        at = fault.line - 1
        return self.tree.place_of(fault, [lines[near].strip() if 0 <= near < len(lines) else "" for near in range(at - 4, at + 5)])

    def verdict(self, choice: Choice, fault: Fault, file: str, builds: bool = True) -> dict:
        begun, building = time.monotonic(), 0.0
        stages = self.stages(file)

        def told(verdict: str, **more) -> dict:
            seconds = {"seconds": round(time.monotonic() - begun), "building": round(building)}
            return self.results.add(choice, fault, verdict, **more, **seconds)

        for index, stage in enumerate(stages):
            since = time.monotonic()
            # The room alone is built and linked sooner than all. Faults that its tests miss are few.
            is_built = not builds or self.tree.build(stage if index == 0 else None)
            building += time.monotonic() - since
            if not is_built:
                return told(REFUSED)
            outcome = self.outcome(choice, stage)
            if outcome.how != "passes":
                return told(FOUND, finder=outcome.finder, how=outcome.how)
        return told(SURVIVED)

    def outcome(self, choice: Choice, stage: tuple[str, ...]) -> Outcome:
        """How the tests end. A test that fails now and then would find each fault, so it runs once more, alone. Where it passes then, and
        after a crash or a hang, all of them run once more."""
        trial, another = self.trial(str(choice.number)), self.trial(f"{choice.number}-again")
        outcome = trial.tests(stage)
        if outcome.how == "passes" or outcome.how == "fails" and another.test(outcome.tests[0]).how != "passes":
            return outcome
        return another.tests(stage)

    def tell(self, record: dict) -> None:
        words = [f"{record['number']:3}", f"{record['file']}:{record['line']}", record["room"], record["kind"], record["verdict"]]
        if "finder" in record:
            words.append(f"({record['how']}) {record['finder']}")
        if "seconds" in record:
            words.append(f"{record['seconds']} s, {record['building']} s of them to build")
        say("  ".join(words))


def main() -> int:
    options = arguments()
    head = commit_of("HEAD")
    commit = commit_of(options.commit) if options.commit else head
    if head is None or commit is None:
        say(f"git has no commit {options.commit or 'HEAD'}")
        return 64
    newest = Tree(ROOT, "tree", head)
    files = list(sources(ROOT, head))
    texts = dict(files)
    choices = draw(options.seed, options.count, newest.package(), files)
    survivors = Survivors(ROOT / "Tests" / "Mutants" / "survivors.md")
    if options.list:
        print("\n".join(listed(choice, choice.faults[0], survivors) for choice in choices if choice.faults))
        return 0
    results = Results(options.results, {"seed": options.seed, "count": options.count, "commit": head, "tree": commit})
    if options.patch is not None:
        faults = choices[options.patch - 1].faults[results.refused(options.patch) :]
        if not faults:
            say(f"the room {choices[options.patch - 1].room} has no more faults for the number {options.patch}")
            return 64
        print(diff(faults[0], texts[faults[0].file]))
        return 0

    # Each commit that is compared keeps a build, so that going back and forth builds little.
    tree = newest if commit == head else Tree(ROOT, f"tree-{commit[:12]}", commit)
    chosen = [choice for choice in choices if choice.number in options.only or not options.only and not results.is_done(choice.number)]
    package = tree.package()
    with tree.held():
        tree.check_out()
        tree.set_up()
        run = Run(tree, package, results, texts)
        if not options.no_baseline and chosen:
            run.baseline(chosen)
        run.plant_together(chosen)
        for choice in chosen:
            if not results.is_done(choice.number):
                run.plant(choice)
    print(report(results, survivors))
    return 0


for number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda number, _: sys.exit(128 + number))
try:
    with contextlib.suppress(BrokenPipeError):
        sys.exit(main())
except KeyboardInterrupt:
    sys.exit(130)
except Broken as error:
    say(str(error))
    sys.exit(1)
except Mismatch as error:
    say(str(error))
    sys.exit(64)
except Missing as error:
    say(str(error))
    sys.exit(69)
