"""Tries Scripts/check: in a copy of the sources, each check has to pass, then to fail on one planted violation, and to name its place.

Scripts/names.py is tried with a symbol graph and a page that are made up.

  planted.py
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

root = (pathlib.Path(__file__).parent / "../..").resolve()
problems = []
WORDS = " ".join(["The worker asks"] + ["one host"] * 13 + ["again now."])  # 31 words
assert len(WORDS.split()) == 31

# New files of a pure target, of the program, and of a test.
PURE = "Sources/Pictures/Probe/Planted.swift"
COMMAND = "Sources/GannetCommand/Planted.swift"
TEST = "Tests/PictureTests/Planted.swift"

# Check, file, text, and the words that its complaint has to have, with {} for the file. A file that is there gets the text at its end.
PLANTED = [
    # Targets that Package.swift does not name.
    ("imports", PURE, "internal import GannetRedisClient\n", "{}:1: GannetPictures may not import GannetRedisClient"),
    ("imports", TEST, "import Server\n", "{}:1: PictureTests may not import Server"),
    ("imports", PURE, "internal import Foundation\n", "{}:1: Foundation would bring"),
    ("imports", PURE, "internal import FoundationNetworking\n", "{}:1: FoundationNetworking is not used"),
    # Types of C that would leave their target.
    ("imports", "Sources/HTTP/Planted.swift", "public import CCurl\n", "the types of CCurl must not leave GannetHTTP"),
    ("prose", "Docs/PLANTED.md", f"# Planted\n\n{WORDS}\n", "{}:3: sentence of 31 words"),
    ("prose", "Docs/PLANTED.md", f"| a | b |\n| --- | --- |\n| c | {WORDS} |\n", "{}:3: sentence of 31 words"),
    ("prose", PURE, f"/// {WORDS}\nenum Planted {{}}\n", "{}:1: sentence of 31 words"),
    ("prose", PURE, f"// {WORDS[:60]}\n// {WORDS[60:]}\nenum Planted {{}}\n", "{}:1: sentence of 31 words"),
    ("prose", COMMAND, f'let planted = Toggle("planted", "{WORDS}")\n', "{}:1: sentence of 31 words"),
    ("prose", COMMAND, f'let planted = Toggle(\n    "planted",\n    "{WORDS[:60]}"\n        + "{WORDS[60:]}")\n', "{}:3: sentence of 31"),
    ("prose", "Scripts/planted", f"#!/bin/sh\n# {WORDS}\n", "{}:2: sentence of 31 words"),
    ("prose", "Scripts/planted.awk", f"# {WORDS}\n", "{}:1: sentence of 31 words"),
    ("prose", PURE, "// The record goes first, lest a job be lost.\n", '{}:1: excluded: "lest"'),
    ("prose", "Docs/PLANTED.md", "An attempt that came to nothing is repeated.\n", '{}:1: excluded: "came to nothing"'),
    ("prose", COMMAND, 'let planted = "Jobs are put back in line."\n', '{}:1: excluded: "back in line"'),
    ("prose", PURE, "// The service ends when course() returns.\n", '{}:1: excluded: "course()"'),
    ("prose", PURE, "/// The flight of a URL ends here.\nenum Planted {}\n", '{}:1: excluded: "flight"'),
    ("prose", PURE, "// What is left waits. Those with a place go first.\n", "{}:1: subject is no named thing"),
    ("prose", TEST, '@Test("What is asked for is what is sent") func planted() {}\n', "{}:1: subject is no named thing"),
    ("prose", TEST, "@Test func `what is asked for is sent`() {}\n", "{}:1: subject is no named thing"),
    ("prose", TEST, "@Test func `a job waits, and who asked for it is told`() {}\n", "{}:1: subject is no named thing"),
    ("prose", TEST, "@Test(arguments: [1])\nfunc `a job waits, lest it be lost`(count: Int) {}\n", '{}:2: excluded: "lest"'),
    ("prose", TEST, f"@Test func `{WORDS.lower().strip('.')}`() {{}}\n", "{}:1: sentence of 31 words"),
    ("skips", TEST, '@Test(.disabled("later")) func planted() {}\n', "{}:1: no test is switched off"),
    ("skips", TEST, '@Test func planted() { print("SKIPPED: there is no disk to fill") }\n', "{}:1: no test skips itself"),
    ("skips", TEST, "@Test(.enabled(if: isRoot)) func planted() {}\n", "{}:1: a test that may be skipped"),
    ("skips", TEST, "@Suite(\n    .enabled(\n        if: isRoot, reason))\nstruct Planted {}\n", "{}:2: a test that may be skipped"),
    ("format", PURE, "enum Planted {  static let  a=1 }\n", "{}:1"),
]

# No check may complain of these.
HARMLESS = [
    (
        "prose",
        "Docs/PLANTED.md",
        f"# What you get\n\n```\n{WORDS} lest\n```\n\nThe word `lest` is code here, and `{WORDS}` is one word. What is a lock? Two requests are in flight.\n"
        f"\n    {WORDS} lest\n\n- {' '.join(WORDS.split()[:20])}\n- {' '.join(WORDS.split()[:20])}\n",
    ),
    ("prose", PURE, f"// The worker asks, e.g. this host. {' '.join(WORDS.split()[:29])}\nlet planted = 1  // The worker asks.\n"),
    ("prose", TEST, f'let planted = "{WORDS} lest"\n'),
    ("prose", TEST, "@Test func `one job asks what is left, and a user, who may not write, is named`() {}\nfunc `lest`() {}\n"),
    ("skips", TEST, "@Suite(\n    .enabled(\n        if: MachineNeed.isMet(isRoot)))\nstruct Planted {}\n"),
    ("format", PURE, "enum Planted {}\n"),
]

# A type with two members, and a page that explains all of them.
SYMBOLS = [
    (["Nest"], "swift.struct", "s:Nest"),
    (["Nest", "eggs"], "swift.property", "s:eggs"),
    (["Nest", "brood(for:)"], "swift.method", "s:brood"),
    # No page has to explain these.
    (["Nest", "<(_:_:)"], "swift.func.op", "s:less"),
    (["Nest", "description"], "swift.property", "s:text"),
    (["Nest", "max()"], "swift.method", "s:max::SYNTHESIZED::s:Nest"),
]
EXPLAINED = "A ``Nest`` has `eggs`, and ``Nest/brood(for:)`` waits.\n\n```swift\nNest().brood(for: nest.eggs)\n```\n"

# A page, and the words of the complaint about it.
UNEXPLAINED = [
    (EXPLAINED.replace("`eggs`", "two"), "Nest/eggs is missing in the text and an example"),
    (EXPLAINED.replace("nest.eggs", "2"), "Nest/eggs is missing in an example"),
    (EXPLAINED.replace("brood(for: ", "wait("), "Nest/brood(for:) is missing in an example"),
    (EXPLAINED.replace("```swift", "<!-- not compiled here: a trial -->\n```swift"), "Nest is missing in an example"),
    (EXPLAINED.replace("```swift", "```console"), "Nest is missing in an example"),
    (EXPLAINED + "\n## Topics\n\n- ``Egg``\n", "1 missing"),
]


def explain(folder, page, symbols):
    """Runs Scripts/names.py on one page and these symbols."""
    graph = [{"pathComponents": path, "kind": {"identifier": kind}, "identifier": {"precise": name}} for path, kind, name in symbols]
    (folder / "Made.symbols.json").write_text(json.dumps({"symbols": graph}))
    (folder / "Page.md").write_text(page)
    done = subprocess.run([root / "Scripts/names.py", folder, folder], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def check(name, copy, files=()):
    done = subprocess.run(["Scripts/check", name, *files], cwd=copy, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def files_to_copy():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root, capture_output=True, text=True, check=True
    )
    return [name for name in set(listed.stdout.split("\0")) - {""} if (root / name).is_file()]


def plant(copy, kind, cases):
    """Writes the texts of one check, each new one to a file of its own. Answers the files, and a function that takes all out again."""
    files, undo = [], []
    for number, (_, file, text, *_) in enumerate(case for case in cases if case[0] == kind):
        target = copy / file
        if target.exists() and "Planted" not in target.stem:
            before = target.read_text()
            undo.append(lambda target=target, before=before: target.write_text(before))
            target.write_text(before + text)
        else:
            target = target.with_stem(f"{target.stem}{number}")
            undo.append(target.unlink)
            target.write_text(text)
        files.append(str(target.relative_to(copy)))

    def remove():
        for step in reversed(undo):
            step()

    return files, remove


with tempfile.TemporaryDirectory(prefix="gannet-planted-") as name:
    copy = pathlib.Path(name) / "copy"
    for file in files_to_copy():
        (copy / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / file, copy / file)
    for kind in ["format", "imports", "skips", "prose"]:
        # First without violations. Of format and prose only planted files are read here: the check of all files is a step of its own.
        files, remove = plant(copy, kind, HARMLESS)
        status, said = check(kind, copy, files if kind in ("format", "prose") else [])
        remove()
        if status != 0:
            problems.append(f"Scripts/check {kind} complains without a reason: {said.strip()}")
        files, remove = plant(copy, kind, PLANTED)
        status, said = check(kind, copy, files if kind in ("format", "prose") else [])
        remove()
        if status != 1:
            problems.append(f"Scripts/check {kind} ends with {status} on planted violations, and not with 1")
        for file, (_, _, text, words) in zip(files, (case for case in PLANTED if case[0] == kind)):
            if words.format(file) not in said:
                problems.append(f"Scripts/check {kind} does not say {words.format(file)!r} of {text!r}: {said.strip()}")
with tempfile.TemporaryDirectory(prefix="gannet-planted-") as name:
    folder = pathlib.Path(name)
    if explain(folder, EXPLAINED, SYMBOLS)[0] != 0:
        problems.append("Scripts/names.py complains of a page that explains all names")
    for page, words in UNEXPLAINED:
        # A name in the list of topics only is not explained.
        listed = [(["Egg"], "swift.struct", "s:Egg")] if "Topics" in page else []
        status, said = explain(folder, page, SYMBOLS + listed)
        if status != 1 or words not in said:
            problems.append(f"Scripts/names.py does not say {words!r} of {page!r}: {said.strip()}")
for problem in problems:
    print(f"planted: {problem}", file=sys.stderr)
if not problems:
    print(f"planted: {len(PLANTED) + len(UNEXPLAINED)} violations were found, and {len(HARMLESS)} harmless texts left alone", file=sys.stderr)
sys.exit(1 if problems else 0)
