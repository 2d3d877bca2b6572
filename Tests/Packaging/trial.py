"""Holds the packaging to the program: the list of licences to the libraries that it names, all texts to its one version, and the files
that `make install` makes.

  trial.py GANNET   the program, with or without Swift's runtime inside
"""

import fnmatch
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

root = (pathlib.Path(__file__).parent / "../..").resolve()
gannet = pathlib.Path(sys.argv[1]).resolve()
problems = []


def output(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, cwd=root, **options).stdout


def expect(condition, sentence):
    if not condition:
        problems.append(sentence)


def is_listed(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def licences():
    """Each library that the program names has a row, and each row a library that the program loads."""
    rows = [line for line in (root / "Docs/LICENCES.md").read_text().splitlines() if line.startswith("| [")]
    patterns = [pattern for row in rows for pattern in re.findall(r"`([^`]+)`", row.split("|")[2])]
    # libz.so.1 is libz.so, and libhiredis.so.0.14 is libhiredis.so.
    named = {name.split(".so")[0] + ".so" for name in re.findall(r"\(NEEDED\).*\[(.+)\]", output("readelf", "-d", gannet))}
    expect(named, "readelf names no library of the program")
    for name in sorted(named):
        expect(is_listed(name, patterns), f"Docs/LICENCES.md does not list {name}, which the program loads")
    loaded = {pathlib.Path(word).name.split(".so")[0] + ".so" for word in re.findall(r"\S+\.so\S*", output("ldd", gannet))}
    is_static = not any(name.startswith("libswiftCore") for name in named)
    for row in rows:
        for pattern in re.findall(r"`([^`]+)`", row.split("|")[2]):
            if not (is_static and "static" in row) and not any(fnmatch.fnmatchcase(name, pattern) for name in loaded):
                problems.append(f"Docs/LICENCES.md lists {pattern}, which the program does not load")


def version():
    """One line of the sources says it; all other texts are compared with the program's answer."""
    said = output(gannet, "--version").strip()
    number = re.search(r"\d+\.\d+\.\d+\S*", said)
    if not number:
        problems.append(f"`gannet --version` says no version: {said}")
        return ""
    number = number[0]
    places = []
    for file in sorted((root / "Sources").rglob("*.swift")):
        for at, line in enumerate(file.read_text().splitlines(), 1):
            if re.search(rf'"(?:[^"]*[/ ])?{re.escape(number)}"', line):
                places.append(f"{file.relative_to(root)}:{at}")
    expect(len(places) == 1, f"the version {number} is written in {len(places)} places of Sources, and not in one: {', '.join(places)}")
    for name in ["Dockerfile", "docker-compose.yml", "Makefile", "Package.swift", "Scripts/install"]:
        expect(number not in (root / name).read_text(), f"{name} repeats the version {number}")
    for page in [root / "README.md", *sorted((root / "Docs").glob("*.md"))]:
        for other in re.findall(r"\bgannet/(\d+\.\d+\.\d+[-\w.]*\b)", page.read_text()):
            expect(other == number, f"{page.relative_to(root)} says gannet/{other}, and the program is {number}")
    newest = re.search(r"^## (?:\[)?(\S+?)\]?(?:\s|$)", (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    expect(newest and newest[1] in ("Unreleased", number), f"CHANGELOG.md begins neither with Unreleased nor with {number}")
    return number


def install(number):
    """Every file comes, is accepted by its reader, and goes again."""
    with tempfile.TemporaryDirectory(prefix="gannet-install-") as name:
        there = [f"DESTDIR={name}", "PREFIX=/usr", f"PROGRAM={gannet}"]
        output("make", "install", *there)
        usr = pathlib.Path(name) / "usr"
        files = sorted(str(file.relative_to(usr)) for file in usr.rglob("*") if file.is_file())
        expect(output(usr / "bin/gannet", "--version").strip().endswith(number), "the installed program has another version")
        manual = usr / "share/man/man1/gannet.1"
        text = manual.read_text()
        expect(number in next((line for line in text.splitlines() if line.startswith(".TH")), ""), "the manual's title has no version")
        for command in ["run", "enqueue", "work", "status"]:
            expect(re.search(rf"\bgannet[\\ ]+{command}\b|^\.S[SH] .*\b{command}\b", text, re.MULTILINE), f"the manual has no {command}")
        # STYLE is a matter of taste, such as the date, which is left out so that two builds make the same page.
        linted = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", manual], capture_output=True, text=True)
        complaints = [line for line in linted.stdout.splitlines() if "missing date" not in line]
        expect(not complaints, "mandoc complains of the manual: " + "; ".join(complaints[:5]))
        for shell, file in [
            ("bash", "bash-completion/completions/gannet"),
            ("zsh", "zsh/site-functions/_gannet"),
            ("fish", "fish/vendor_completions.d/gannet.fish"),
        ]:
            checked = subprocess.run([shell, "-n", usr / "share" / file], capture_output=True, text=True)
            expect(checked.returncode == 0, f"{shell} refuses its completions: {checked.stderr.strip()}")
        for file in ["share/doc/gannet/LICENSE", "share/doc/gannet/LICENCES.md"]:
            expect(file in files, f"`make install` does not install {file}")
        expect(not any("Tests" in file or ".swift" in file for file in files), f"`make install` installs too much: {files}")
        output("make", "uninstall", *there[:2])
        left = [file for file in usr.rglob("*") if file.is_file()]
        expect(not left, f"`make uninstall` leaves {left}")


for tool in ["readelf", "ldd", "make", "mandoc", "bash", "zsh", "fish"]:
    expect(shutil.which(tool), f"{tool} is missing: Scripts/setup --tests installs it")
if not problems:
    try:
        licences()
        install(version())
    except subprocess.CalledProcessError as error:
        problems.append(f"{' '.join(error.cmd)} ended with {error.returncode}: {error.stderr.strip()}")
for problem in problems:
    print(f"packaging: {problem}", file=sys.stderr)
sys.exit(1 if problems else 0)
