"""A work tree of our own, in which faults are planted and built."""

import contextlib
import fcntl
import json
import os
import pathlib
import re
import subprocess
from collections.abc import Iterator

from faults import Fault
from package import Package
from switches import Switch, with_switches

# The compiler or the linker refuses the fault. Any other failure of a build is none of the fault.
REFUSED = re.compile(r"^/.*/Sources/.*: error:|failed due to signal|please submit a bug report|undefined reference", re.MULTILINE)
# Where the compiler refuses something.
ERROR = re.compile(r"^(/.*/(Sources/.*)):(\d+):\d+: error:", re.MULTILINE)


class Missing(Exception):
    """Something that the run needs is not there."""


class Broken(Exception):
    """The tree fails without a fault."""


def environment(**more: str) -> dict[str, str]:
    """Ours, in which Linux has what gannet-thumbnail needs: SwiftPM may remember that it had not."""
    kept = {name: value for name, value in os.environ.items() if name != "GANNET_ROOMS"}
    return kept | {"GANNET_THUMBNAIL": "yes"} | more


class Tree:
    def __init__(self, root: pathlib.Path, name: str, commit: str):
        self.root, self.commit = root, commit
        self.home = root / ".build" / "mutants"
        self.folder = self.home / name
        self.home.mkdir(parents=True, exist_ok=True)
        self.output = ""

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """The tree, for one run at a time."""
        with (self.home / f"{self.folder.name}.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Missing(f"another run uses {self.folder}; wait for its end") from None
            yield

    def check_out(self) -> None:
        """Also takes away a fault that an earlier run left when it was killed. Files that are as they should be keep their times."""
        if (self.folder / ".git").exists():
            self.git("checkout", "--quiet", "--force", "--detach", self.commit)
            self.git("reset", "--quiet", "--hard", self.commit)
        else:
            added = ["git", "worktree", "add", "--quiet", "--force", "--detach", str(self.folder), self.commit]
            if subprocess.run(added, cwd=self.root).returncode:
                raise Missing(f"git cannot make the work tree {self.folder}")

    def git(self, *words: str) -> None:
        subprocess.run(["git", *words], cwd=self.folder, check=True, stdout=subprocess.DEVNULL)

    def set_up(self) -> None:
        """Installs everything that the tests need, such as the environments of Python."""
        build, ours = self.folder / ".build", self.root / ".build" / "tables"
        build.mkdir(exist_ok=True)
        if ours.exists() and not (build / "tables").exists():
            (build / "tables").symlink_to(ours)
        if subprocess.run(["Scripts/setup", "--tests", "--quiet"], cwd=self.folder).returncode:
            raise Missing("Scripts/setup --tests failed")

    def package(self) -> Package:
        """The targets of the commit. They are kept in a file, so that a list needs no tree while a run has it."""
        kept = self.home / f"targets-{self.commit}.json"
        if not kept.exists():
            with self.held():
                self.check_out()
                words = ["swift", "package", "describe", "--type", "json"]
                try:
                    done = subprocess.run(words, cwd=self.folder, env=environment(), capture_output=True, text=True)
                except FileNotFoundError:
                    raise Missing("Swift 6 is not installed, or not in PATH: get it from https://www.swift.org/install") from None
                if done.returncode:
                    raise Broken(f"`swift package describe` failed:\n{done.stderr[-2000:]}")
                new = kept.with_suffix(".new")
                new.write_text(done.stdout)
                new.rename(kept)
        return Package(json.loads(kept.read_text()))

    @property
    def builds_rooms(self) -> bool:
        """Whether the package can build the tests of some rooms alone. Then each room names all that its tests need."""
        return "GANNET_ROOMS" in (self.folder / "Package.swift").read_text()

    def build(self, tests: tuple[str, ...] | None = None) -> bool:
        """Builds these test targets, or all. False when the compiler refuses the sources."""
        rooms = {"GANNET_ROOMS": " ".join(name.removesuffix("Tests") for name in tests)} if tests and self.builds_rooms else {}
        words = ["swift", "build", "--build-tests", "--quiet", "-Xswiftc", "-gline-tables-only"]
        done = subprocess.run(words, cwd=self.folder, env=environment(**rooms), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.output = done.stdout.decode(errors="replace")
        if done.returncode and not REFUSED.search(self.output):
            raise Missing(f"the build failed for another reason than the sources:\n{self.output[-3000:]}")
        return done.returncode == 0

    @property
    def program(self) -> pathlib.Path:
        found = sorted((self.folder / ".build" / "debug").glob("*PackageTests.xctest"), key=lambda path: path.stat().st_mtime)
        if not found:
            raise Missing("the build has made no program with tests")
        return found[-1]

    def place_of(self, fault: Fault, context: list[str]) -> tuple[pathlib.Path, int] | None:
        """Where the fault's line is in this tree: by its content and the lines around it, in the file of this name."""
        same = self.folder / fault.file
        named = [same] if same.exists() else sorted((self.folder / "Sources").rglob(same.name))
        found = []
        for path in named:
            lines = path.read_text().split("\n")
            for index, line in enumerate(lines):
                if line.strip() == fault.old.strip():
                    around = zip(range(index - 4, index + 5), context)
                    alike = sum(0 <= at < len(lines) and lines[at].strip() == text for at, text in around)
                    found.append((alike, path, index))
        best = max((alike for alike, _, _ in found), default=0)
        places = [(path, index) for alike, path, index in found if alike == best]
        return places[0] if len(places) == 1 else None

    @contextlib.contextmanager
    def planted(self, path: pathlib.Path, index: int, fault: Fault) -> Iterator[None]:
        text = path.read_text()
        lines = text.split("\n")
        indent = lines[index][: len(lines[index]) - len(lines[index].lstrip())]
        lines[index] = indent + fault.new.lstrip()
        path.write_text("\n".join(lines))
        try:
            yield
        finally:
            path.write_text(text)

    @property
    def switched_on(self) -> pathlib.Path:
        """The file with the number of the fault that is on."""
        return self.folder / ".build" / "fault"

    @contextlib.contextmanager
    def built_with(self, switches: dict[Fault, Switch]) -> Iterator[set[Fault]]:
        """Builds all tests with these faults, each of which can be switched on. Answers the faults that the compiler bears in that form."""
        texts = {file: (self.folder / file).read_text() for file in sorted({fault.file for fault in switches})}
        borne = set(switches)
        try:
            while borne:
                for file, text in texts.items():
                    self.write(file, with_switches(text, self.switched_on, {one: switches[one] for one in borne if one.file == file}))
                if self.build():
                    break
                refused = self.refused(borne, switches)
                borne = borne - refused if refused else set()
            yield borne
        finally:
            for file, text in texts.items():
                self.write(file, text)
            self.switched_on.unlink(missing_ok=True)

    def write(self, file: str, text: str) -> None:
        """A file that is as it was keeps its time, so that it is not built again."""
        path = self.folder / file
        if path.read_text() != text:
            path.write_text(text)

    def refused(self, borne: set[Fault], switches: dict[Fault, Switch]) -> set[Fault]:
        found = set()
        for path, file, line in ERROR.findall(self.output):
            lines, at = pathlib.Path(path).read_text().split("\n"), int(line) - 1
            # An error in a declaration at the end of the file is that of the fault which needs it.
            found |= {one for one in borne if one.file == file and (one.line - 1 == at or lines[at] in switches[one].declarations.split("\n"))}
        return found
