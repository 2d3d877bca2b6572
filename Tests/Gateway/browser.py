"""A page in a real browser tries to read from a gateway, and to have something fetched or enqueued there.

  browser.py GANNET   the program to try

The browser is chromium. The page comes from a real nginx, which is the origin of the wanted URLs as well: its log says what was
fetched. Between browser and gateway stands a relay (relay.py), which tells a request that was refused from one that was never sent. The same page
under a name that the gateway answers for reads and changes all that it wants, so the trial can fail.

No port is fixed, and everything ends with it. Ends with 1 and a sentence when something is not as it should be.
"""

import json
import re
import shutil
import subprocess
import sys
import urllib.parse
import urllib.request

from processes import here, trial
from relay import Relay

ENQUEUED = ["form", "post", "beacon"]
READ = ["fetch", "credentials", "request", "image", "script", "style"]
OTHERS = ["noCORS", "prefetch", "video", "object", "frame", "socket", "events", "navigation"]
ALL = set(ENQUEUED + READ + OTHERS)
# Attempts that a fetch is the effect of. The last one leaves the page.
FETCHED = ALL - set(ENQUEUED) - {"events"}


def chromium():
    for name in ["chromium-headless-shell", "chromium", "google-chrome"]:
        if shutil.which(name):
            return [name] if name.endswith("shell") else [name, "--headless"]
    sys.exit("browser: there is no chromium here, whose package Debian calls chromium-headless-shell")


class Pages:
    def __init__(self, processes):
        self.processes, self.folder = processes, processes.folder
        self.log = self.folder / "access.log"
        shutil.copy(here / "page.html", self.folder)
        processes.redis()
        self.port = processes.nginx()
        self.origin = f"http://127.0.0.1:{self.port}"

    def requested(self):
        return re.findall(r"GET /wanted/(\w+)", self.log.read_text())

    def reported(self):
        found = re.search(r"GET /report\?(\S+)", self.log.read_text())
        return json.loads(urllib.parse.unquote(found[1])) if found else None

    def run(self, case, host, gateway_host=None, words=(), rebind=False):
        """The outcome of one page: what it has read, what the origin was asked for, and what was enqueued."""
        wait = self.processes.wait
        process, port = self.processes.gateway(case, ["--allow-net", "127.0.0.0/8", *words])
        relay = Relay(port, first=self.port if rebind else None)
        self.log.write_text("")
        query = {"origin": self.origin, "report": f"http://evil.localhost:{self.port}/report", "seen": f"http://127.0.0.1:{relay.watch}/seen"}
        if gateway_host:
            query["gateway"] = f"http://{gateway_host}".replace("RELAY", str(relay.port))
        if rebind:
            query["rebind"] = "1"
        page = f"http://{host}/page.html?{urllib.parse.urlencode(query)}".replace("NGINX", str(self.port))
        browser = self.processes.start(
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
        self.processes.end(browser)
        if self.processes.end(process) != 0:
            self.processes.fail(f"the gateway ended badly ({case})")
        missing = ALL - relay.names()
        if missing:
            self.processes.fail(f"the browser did not even send {sorted(missing)} ({case})")
        # A page whose name was rebound can read that it is refused.
        return {name for name, text in read.items() if text and '"class":"wrong-host"' not in text}, fetched, enqueued

    def enqueued(self, port):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/jobs?state=ready&limit=100", timeout=5) as answer:
            return set(re.findall(r"/wanted/(\w+)", answer.read().decode()))


def main(processes):
    pages = Pages(processes)
    nothing = (set(), set(), set())
    foreign, local = "evil.localhost:NGINX", "127.0.0.1:RELAY"
    named = ["--host-name", "gateway.example"]
    for case, outcome in {
        "a-page-of-another-host": pages.run("foreign", foreign, local),
        "a-page-whose-name-was-rebound": pages.run("rebound", "rebound.example", rebind=True),
        "a-page-of-another-host-where-the-gateway-has-a-name": pages.run("named", foreign, "gateway.example", named),
    }.items():
        if outcome != nothing:
            processes.fail(f"{case} has read {sorted(outcome[0])}, had {sorted(outcome[1])} fetched and {sorted(outcome[2])} enqueued")
    # The same page, under a name that the gateway answers for. Browsers trust names below localhost without TLS.
    read, fetched, enqueued = pages.run("allowed", "gateway.localhost", words=["--host-name", "gateway.localhost"], rebind=True)
    if not read >= set(READ) or fetched != FETCHED or enqueued != set(ENQUEUED):
        processes.fail(f"an allowed page read only {sorted(read)}, had {sorted(fetched)} fetched and {sorted(enqueued)} enqueued")
    print(f"browser: {len(ALL)} ways in were closed to three pages, and open to an allowed one", file=sys.stderr)


trial("browser", sys.argv[1], 120, main)
