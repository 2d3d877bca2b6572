"""The world around the window: an origin with pictures, a Redis, workers and gateways. All of it is real, and ends with the trial."""

import json
import pathlib
import shutil
import struct
import subprocess
import sys
import urllib.request
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Gateway"))

from processes import free_port  # noqa: E402

# This text runs nothing, wherever it stands.
SCRIPT = "<img/src=x/onerror=window.stolen=1>"


def png(width, rows):
    """`rows` have three bytes for each pixel."""

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, len(rows), 8, 2, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def coloured(number):
    return png(64, [bytes([number * 37 % 256, number * 91 % 256, row * 4]) * 64 for row in range(48)])


CONFIGURATION = """daemon off; master_process off; pid FOLDER/origin.pid; error_log FOLDER/origin-errors.log;
events {}
http {
    TEMPORARY
    types { image/png png; image/svg+xml svg; text/html html; }
    log_format line '$request_method $request_uri';
    access_log FOLDER/origin.log line;
    server {
        listen 127.0.0.1:PORT;
        root FOLDER/www;
        location /slow/ { alias FOLDER/www/; limit_rate 100; }
        location /hostile/header { types {} default_type 'image/png"><script>window.stolen=1</script>'; try_files /0.png =404; }
    }
}
"""


class Stage:
    """An origin, a Redis, and the programs that a test starts."""

    def __init__(self, processes):
        self.processes, self.folder = processes, processes.folder
        processes.redis()
        self.files = self.folder / "www"
        (self.files / "hostile").mkdir(parents=True)
        for number in range(40):
            (self.files / f"{number}.png").write_bytes(coloured(number))
        (self.files / "hostile" / "page.html").write_text(f"<title>{SCRIPT}</title><script>window.stolen=1</script>")
        (self.files / "hostile" / "drawn.svg").write_text(
            '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="window.stolen=1"><script>window.stolen=1</script></svg>')
        self.port = free_port()
        temporary = " ".join(f"{name}_temp_path {self.folder}/{name}-2;" for name in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
        text = CONFIGURATION
        for name, value in {"FOLDER": self.folder, "PORT": self.port, "TEMPORARY": temporary}.items():
            text = text.replace(name, str(value))
        (self.folder / "origin.conf").write_text(text)
        nginx = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/local/bin:/usr/bin")
        processes.start([nginx, "-p", self.folder, "-c", self.folder / "origin.conf"], stderr=subprocess.DEVNULL)
        processes.wait("nginx", (self.folder / "origin.pid").exists)

    def url(self, path):
        return f"http://127.0.0.1:{self.port}/{path}"

    def asked(self, path):
        return (self.folder / "origin.log").read_text().count(f"GET /{path}\n")

    def words(self, namespace):
        return ["--redis", f"unix://{self.processes.socket}", "--namespace", namespace]

    def enqueue(self, namespace, batch, urls):
        """Without robots.txt: one that cannot be had would rest the host, which all URLs share."""
        subprocess.run(
            [self.processes.gannet, "enqueue", "-i", "-", "--batch", batch, "--robots", "ignore", *self.words(namespace)],
            input="\n".join(urls).encode(), check=True, capture_output=True)  # fmt: skip

    def work(self, namespace, *words):
        """A worker, which goes on until it is ended."""
        log = (self.folder / f"{namespace}-worker.log").open("w")
        command = [self.processes.gannet, "work", "--allow-net", "127.0.0.0/8", *words, *self.words(namespace)]
        return self.processes.start(command, stderr=log)

    def gateway(self, namespace, *words):
        favourites = self.folder / f"{namespace}-favourites.json"
        process, port = self.processes.gateway(namespace, ["--favourites", str(favourites), *words])
        return process, f"http://127.0.0.1:{port}"

    def ask(self, address, path):
        with urllib.request.urlopen(address + path, timeout=10) as answer:
            return json.load(answer)


def chromium(stage):
    for name in ["chromium-headless-shell", "chromium", "google-chrome"]:
        if found := shutil.which(name):
            return found
    stage.processes.fail("there is no chromium here, whose package Debian calls chromium-headless-shell")
