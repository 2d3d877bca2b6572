"""The processes of a trial of a gateway. Each ends with it, and no port is fixed."""

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

here = pathlib.Path(__file__).parent.resolve()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def is_alive(group):
    """Whether a process of the group lives. Ended ones that nobody has waited for do not count."""
    for file in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group = file.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(its_group) == group and state != "Z":
            return True
    return False


class Processes:
    def __init__(self, name, gannet, folder, seconds):
        self.name, self.gannet, self.folder = name, gannet, folder
        self.deadline = time.monotonic() + seconds
        self.children = []

    def fail(self, sentence):
        sys.exit(f"{self.name}: {sentence}")

    def start(self, words, **options):
        # In a group of its own: Debian's chromium is a script, and the browser would outlive it.
        child = subprocess.Popen(words, stdout=subprocess.DEVNULL, start_new_session=True, **options)
        self.children.append(child)
        return child

    def wait(self, what, look):
        """Until `look` answers something."""
        while time.monotonic() < self.deadline:
            for child in self.children:
                if child.poll() is not None:
                    self.fail(f"{child.args[0]} ended with {child.returncode} while the trial waited for {what}")
            answer = look()
            if answer:
                return answer
            time.sleep(0.05)
        self.fail(f"waited in vain for {what}")

    def end(self, child):
        """With its whole group; answers the status of its first process."""
        self.children.remove(child)
        for number in [signal.SIGTERM, signal.SIGKILL]:
            end = time.monotonic() + 10
            try:
                os.killpg(child.pid, number)
            except ProcessLookupError:
                pass
            while time.monotonic() < end:
                if child.poll() is not None and not is_alive(child.pid):
                    return child.returncode
                time.sleep(0.02)
        self.fail(f"{child.args[0]} cannot be ended")

    def redis(self):
        self.socket = self.folder / "redis.sock"
        started = self.start(["redis-server", "--port", "0", "--unixsocket", self.socket, "--save", "", "--dir", self.folder])
        self.wait("Redis", self.socket.exists)
        return started

    def nginx(self):
        """The port of a server with the paths of nginx.conf, which writes access.log."""
        # The port may be gone by the time nginx binds it: then it ends, and so does the trial, with a sentence.
        port = free_port()
        temporary = " ".join(f"{name}_temp_path {self.folder}/{name};" for name in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
        configuration = (here / "nginx.conf").read_text()
        for name, value in {"FOLDER": self.folder, "PORT": port, "TEMPORARY": temporary}.items():
            configuration = configuration.replace(name, str(value))
        (self.folder / "nginx.conf").write_text(configuration)
        nginx = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/local/bin:/usr/bin")
        self.start([nginx, "-p", self.folder, "-c", self.folder / "nginx.conf"], stderr=subprocess.DEVNULL)
        self.wait("nginx", lambda: (self.folder / "nginx.pid").exists())
        return port

    def gateway(self, name, words=()):
        """The process and its port."""
        log = self.folder / f"{name}.log"
        with log.open("w") as errors:
            command = [self.gannet, "serve", "--bind", "127.0.0.1:0", "--redis", f"unix://{self.socket}", "--namespace", name]
            process = self.start(command + list(words), stderr=errors)
        found = self.wait(f"the address of {name}", lambda: re.search(r"serving on http://127.0.0.1:(\d+)", log.read_text()))
        return process, int(found[1])


def trial(name, gannet, seconds, body):
    """Calls `body` with the processes, and ends them."""
    # The children have groups of their own, so they hear nothing of a signal to this one's.
    for number in [signal.SIGTERM, signal.SIGHUP]:
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    with tempfile.TemporaryDirectory(prefix=f"gannet-{name}-") as folder:
        processes = Processes(name, gannet, pathlib.Path(folder), seconds)
        try:
            body(processes)
        finally:
            for child in list(reversed(processes.children)):
                processes.end(child)
