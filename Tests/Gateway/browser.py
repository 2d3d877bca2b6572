"""A page in a real browser tries to read from a gateway, and to have something fetched or enqueued there.

  trial.py GANNET   the program to try

The browser is chromium. The page comes from a real nginx, which is the origin of the wanted URLs as well: its log says what was
fetched. Between browser and gateway stands a relay (relay.py), which tells a request that was refused from one that was never sent. The same page
under a name that the gateway answers for reads and changes all that it wants, so the trial can fail.

No port is fixed, and everything ends with it. Ends with 1 and a sentence when something is not as it should be.
"""

import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

from relay import Relay, free_port

ENQUEUED = ["form", "post", "beacon"]
READ = ["fetch", "credentials", "request", "image", "script", "style"]
OTHERS = ["noCORS", "prefetch", "video", "object", "frame", "socket", "events", "navigation"]
ALL = set(ENQUEUED + READ + OTHERS)
# Attempts that a fetch is the effect of. The last one leaves the page.
FETCHED = ALL - set(ENQUEUED) - {"events"}
DEADLINE = time.monotonic() + 120
here = pathlib.Path(__file__).parent.resolve()
gannet = sys.argv[1]
children = []


def fail(sentence):
    sys.exit(f"browser: {sentence}")


def start(words, **options):
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, **options)
    children.append(child)
    return child


def wait(what, look):
    """Until `look` answers something."""
    while time.monotonic() < DEADLINE:
        for child in children:
            if child.poll() is not None:
                fail(f"{child.args[0]} ended with {child.returncode} while it was waited for {what}")
        answer = look()
        if answer:
            return answer
        time.sleep(0.05)
    fail(f"waited in vain for {what}")


def end(child):
    children.remove(child)
    child.send_signal(signal.SIGTERM)
    try:
        return child.wait(timeout=10)
    except subprocess.TimeoutExpired:
        child.kill()
        return child.wait()


def chromium():
    for name in ["chromium-headless-shell", "chromium", "google-chrome"]:
        if shutil.which(name):
            return [name] if name.endswith("shell") else [name, "--headless"]
    fail("there is no chromium here, whose package Debian calls chromium-headless-shell")


class Trial:
    def __init__(self, folder):
        self.folder = folder
        self.log = folder / "access.log"
        self.begin_redis()
        self.begin_nginx()

    def begin_redis(self):
        self.redis = self.folder / "redis.sock"
        start(["redis-server", "--port", "0", "--unixsocket", self.redis, "--save", "", "--dir", self.folder])
        wait("Redis", self.redis.exists)

    def begin_nginx(self):
        # The port may be gone by the time nginx binds it: then it ends, and so does the trial, with a sentence.
        self.port = free_port()
        self.origin = f"http://127.0.0.1:{self.port}"
        shutil.copy(here / "page.html", self.folder)
        temporary = " ".join(f"{name}_temp_path {self.folder}/{name};" for name in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
        configuration = (here / "nginx.conf").read_text()
        for name, value in {"FOLDER": self.folder, "PORT": self.port, "TEMPORARY": temporary}.items():
            configuration = configuration.replace(name, str(value))
        (self.folder / "nginx.conf").write_text(configuration)
        nginx = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/local/bin:/usr/bin")
        start([nginx, "-p", self.folder, "-c", self.folder / "nginx.conf"], stderr=subprocess.DEVNULL)
        wait("nginx", lambda: (self.folder / "nginx.pid").exists())

    def gateway(self, name, words):
        log = self.folder / f"{name}.log"
        with log.open("w") as errors:
            command = [gannet, "serve", "--bind", "127.0.0.1:0", "--allow-net", "127.0.0.0/8", "--redis", f"unix://{self.redis}"]
            process = start(command + ["--namespace", name] + words, stderr=errors)
        found = wait(f"the address of {name}", lambda: re.search(r"serving on http://127.0.0.1:(\d+)", log.read_text()))
        return process, int(found[1])

    def requested(self):
        return re.findall(r"GET /wanted/(\w+)", self.log.read_text())

    def reported(self):
        found = re.search(r"GET /report\?(\S+)", self.log.read_text())
        return json.loads(urllib.parse.unquote(found[1])) if found else None

    def run(self, case, host, gateway_host=None, words=(), rebind=False):
        """The outcome of one page: what it has read, what the origin was asked for, and what was enqueued."""
        process, port = self.gateway(case, list(words))
        relay = Relay(port, first=self.port if rebind else None)
        self.log.write_text("")
        query = {"origin": self.origin, "report": f"http://evil.localhost:{self.port}/report", "seen": f"http://127.0.0.1:{relay.watch}/seen"}
        if gateway_host:
            query["gateway"] = f"http://{gateway_host}".replace("RELAY", str(relay.port))
        if rebind:
            query["rebind"] = "1"
        page = f"http://{host}/page.html?{urllib.parse.urlencode(query)}".replace("NGINX", str(self.port))
        browser = start(
            [*chromium(), "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.folder}/{case}-profile", "--remote-debugging-port=0",
             f"--host-resolver-rules=MAP *.example:80 127.0.0.1:{relay.port}, MAP gateway.localhost:80 127.0.0.1:{relay.port}", page],
            stderr=subprocess.DEVNULL)  # fmt: skip
        if rebind:
            wait("the page", lambda: "GET /page.html" in self.log.read_text())
            relay.turn()
        read = wait(f"the report of the page ({case}; sent so far: {sorted(relay.names())})", self.reported)
        wait(f"the page's last request ({case})", lambda: "navigation" in relay.names())
        wait(f"the gateway's answers ({case})", relay.is_answered)
        enqueued = self.enqueued(port)
        fetched = set(self.requested())
        end(browser)
        if end(process) != 0:
            fail(f"the gateway ended badly ({case})")
        missing = ALL - relay.names()
        if missing:
            fail(f"the browser did not even send {sorted(missing)} ({case})")
        # A page whose name was rebound can read that it is refused.
        return {name for name, text in read.items() if text and '"class":"wrong-host"' not in text}, fetched, enqueued

    def enqueued(self, port):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/jobs?state=ready&limit=100", timeout=5) as answer:
            return set(re.findall(r"/wanted/(\w+)", answer.read().decode()))


def main(folder):
    trial = Trial(folder)
    nothing = (set(), set(), set())
    foreign, local = "evil.localhost:NGINX", "127.0.0.1:RELAY"
    named = ["--host-name", "gateway.example"]
    for case, outcome in {
        "a-page-of-another-host": trial.run("foreign", foreign, local),
        "a-page-whose-name-was-rebound": trial.run("rebound", "rebound.example", rebind=True),
        "a-page-of-another-host-where-the-gateway-has-a-name": trial.run("named", foreign, "gateway.example", named),
    }.items():
        if outcome != nothing:
            fail(f"{case} has read {sorted(outcome[0])}, had {sorted(outcome[1])} fetched and {sorted(outcome[2])} enqueued")
    # The same page, under a name that the gateway answers for. Browsers trust names below localhost without TLS.
    read, fetched, enqueued = trial.run("allowed", "gateway.localhost", words=["--host-name", "gateway.localhost"], rebind=True)
    if not read >= set(READ) or fetched != FETCHED or enqueued != set(ENQUEUED):
        fail(f"an allowed page read only {sorted(read)}, had {sorted(fetched)} fetched and {sorted(enqueued)} enqueued")
    print(f"browser: {len(ALL)} ways in were closed to three pages, and open to an allowed one", file=sys.stderr)


with tempfile.TemporaryDirectory(prefix="gannet-browser-") as name:
    try:
        main(pathlib.Path(name))
    finally:
        for child in list(reversed(children)):
            end(child)
