"""Compares `Robots` with protego on made-up files of robots.txt.

  compare.py PROGRAM [COMPARISONS [SEED]]     PROGRAM is RobotsVerdicts

Each verdict has to be the RFC's, as model.py reads it slowly. Where protego's is another, model.py with the fewest of protego's quirks has to
say the same as protego, and Docs/ROBOTS.md has to explain each of these quirks. Ends with 1 where a difference stays unexplained.
"""

import collections
import pathlib
import random
import re
import subprocess
import sys

import files
import model
from protego import Protego

PATHS = 8
AGENT = "gannet"


def verdicts(program, cases):
    """Our delay and verdicts for each case."""
    asked = []
    for content, paths in cases:
        asked += [f"F {content.hex()}", f"A {AGENT}"] + [f"P {path}" for path in paths]
    answer = subprocess.run([program, "robots"], input="\n".join(asked) + "\n", capture_output=True, text=True, check=True).stdout.split("\n")
    answers = iter(answer)
    for _, paths in cases:
        delay = next(answers)
        lines = [next(answers) for _ in paths]
        yield (None if delay == "-" else float(delay)), [None if line == "allowed" else int(line.split()[1]) for line in lines]


def explanation(content, question, theirs):
    """The fewest quirks with which the model says the same as protego, or None."""
    quirks = set(model.QUIRKS)
    if question(model.Robots(content, AGENT, frozenset(quirks))) != theirs:
        return None
    for quirk in model.QUIRKS:
        if question(model.Robots(content, AGENT, frozenset(quirks - {quirk}))) == theirs:
            quirks.remove(quirk)
    return tuple(quirk for quirk in model.QUIRKS if quirk in quirks)


def main():
    program = sys.argv[1]
    wanted = int(sys.argv[2]) if len(sys.argv) > 2 else 120_000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randrange(2**32)
    print(f"robots: {wanted} paths, seed {seed}")
    generator = random.Random(seed)
    page = (pathlib.Path(__file__).parent / "../../../Docs/ROBOTS.md").read_text()
    explained = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    problems = [f"Docs/ROBOTS.md does not explain {quirk}" for quirk in model.QUIRKS if quirk not in explained]
    problems += [f"Docs/ROBOTS.md explains {quirk}, which the model does not have" for quirk in explained - set(model.QUIRKS)]

    cases = []
    for _ in range((wanted + PATHS - 1) // PATHS):
        content, patterns = files.file(generator)
        cases.append((content, [files.path(generator, patterns) for _ in range(PATHS)]))
    counts, combined, disallowed, compared = collections.Counter(), collections.Counter(), 0, 0

    def judge(content, what, ours, rfc, theirs_differ, question, theirs):
        """Compares one answer."""
        if ours != rfc:
            problems.append(f"{content!r}: {what}: we say {ours}, and the model of the RFC {rfc}")
        if not theirs_differ:
            return
        needed = explanation(content, question, theirs)
        if needed is None:
            problems.append(f"{content!r}: {what}: we say {ours}, and protego {theirs}, which no quirk explains")
        else:
            combined[needed] += 1
            counts.update(needed)

    for (content, paths), (delay, lines) in zip(cases, verdicts(program, cases)):
        parser = Protego.parse(content.decode("utf-8-sig", "replace"))
        rfc = model.Robots(content, AGENT)
        theirs = parser.crawl_delay(AGENT)
        judge(content, "delay", delay, rfc.delay, delay != theirs, lambda robots: robots.delay, theirs)
        for path, line in zip(paths, lines):
            compared += 1
            disallowed += line is not None
            theirs = parser.can_fetch("http://a.test" + path, AGENT)
            differs = theirs != (line is None)
            judge(content, path, line, rfc.disallowing(path), differs, lambda robots, path=path: robots.disallowing(path) is None, theirs)

    print(f"robots: {compared} verdicts and {len(cases)} delays compared; {disallowed} verdicts were disallowed")
    print(f"robots: {sum(combined.values())} differences, {sum(1 for needed in combined.elements() if len(needed) == 1)} of them by one quirk alone")
    for quirk in model.QUIRKS:
        print(f"robots: {counts[quirk]:6} {quirk}")
    for problem in problems[:20]:
        print(problem, file=sys.stderr)
    if problems:
        print(f"robots: {len(problems)} problems; again: Scripts/check robots {wanted} {seed}", file=sys.stderr)
    sys.exit(1 if problems else 0)


main()
