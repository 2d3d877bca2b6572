"""Workers fetch from an nginx of many hosts, each with a robots.txt of its own, and its log tells whether they obeyed.

  trial.py GANNET [--jobs N] [--hosts N] [--workers N] [--seed N]

No URL may be requested that its host forbids, also not behind a redirect. Each robots.txt is requested once, by whichever worker. All other
URLs are fetched once.
"""

import argparse
import collections
import json
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "Servers"))
from base import end, free_port, say, until  # noqa: E402 (the line above says where it is)
from program import Gannet  # noqa: E402
from redis_servers import Node  # noqa: E402

parser = argparse.ArgumentParser(description="Obedience to robots.txt, seen from the origin.")
parser.add_argument("gannet")
parser.add_argument("--jobs", type=int, default=100_000)
parser.add_argument("--hosts", type=int, default=50)
parser.add_argument("--workers", type=int, default=8)
parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
options = parser.parse_args()
draw = random.Random(options.seed)
SECTIONS = 10


class Site:
    """A host, the sections that it forbids, and its file that says so."""

    def __init__(self, number):
        self.host = f"127.9.{number}.1"
        self.kind = ["own group", "all agents", "allowed parts", "wildcards", "no file", "redirected", "empty rule"][number % 7]
        count = 0 if self.kind in ("no file", "empty rule") else draw.randrange(1, SECTIONS)
        self.forbidden = set(draw.sample(range(SECTIONS), count))

    @property
    def file(self):
        """None for a host without one."""
        rules = "".join(f"Disallow: /p{section}/\n" for section in sorted(self.forbidden))
        permitted = "".join(f"Allow: /p{section}/\n" for section in range(SECTIONS) if section not in self.forbidden)
        return {
            "own group": f"User-agent: *\nDisallow: /\n\nUser-agent: Gannet\n{rules}",
            "all agents": f"User-agent: otherbot\nDisallow: /\n\nUser-agent: *\n{rules}",
            "allowed parts": f"User-agent: *\nDisallow: /\nAllow: /go/\n{permitted}",
            "wildcards": "User-agent: *\n" + "".join(f"Disallow: /*{section}/*/page$\n" for section in sorted(self.forbidden)),
            "no file": None,
            "redirected": f"# All of it\r\nuser-agent:*\r\n{rules}".replace("\n", "\r\n").replace("\r\r", "\r"),
            "empty rule": "User-agent: *\nDisallow:\n",
        }[self.kind]


def configuration(folder, port, sites):
    for site in sites:
        if site.file is not None:
            (folder / "robots" / f"{site.host}.txt").write_text(site.file)
    temporary = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
    moved = "|".join(site.host.replace(".", r"\.") for site in sites if site.kind == "redirected") or "none"
    return f"""daemon off; pid {folder}/pid; error_log {folder}/errors; worker_processes 1;
        events {{ worker_connections 8192; }}
        http {{ log_format one '$host $uri $status'; access_log {folder}/access one; keepalive_requests 1000000; {temporary}
          server {{ listen 0.0.0.0:{port} backlog=4096; default_type text/plain;
            location = /robots.txt {{
              if ($host ~ "^({moved})$") {{ return 302 /rules.txt; }}
              alias {folder}/robots/$host.txt; }}
            location = /rules.txt {{ alias {folder}/robots/$host.txt; }}
            location ~ ^/go/(?<rest>.*)$ {{ return 302 /$rest; }}
            location / {{ return 200 "a page\\n"; }} }} }}"""


def main(folder):
    (folder / "robots").mkdir()
    sites = [Site(number) for number in range(options.hosts)]
    port = free_port()
    (folder / "nginx.conf").write_text(configuration(folder, port, sites))
    nginx = subprocess.Popen(["nginx", "-p", folder, "-e", folder / "errors", "-c", folder / "nginx.conf"], start_new_session=True)
    children = [nginx]
    try:
        until("nginx listens", lambda: socket.socket().connect_ex(("127.0.0.1", port)) == 0)
        redis = Node(folder / "redis", alone=True)
        children.append(redis.process)
        pages, list_ = collections.defaultdict(set), []
        for number in range(options.jobs):
            site, section, leads = draw.choice(sites), draw.randrange(SECTIONS), draw.random() < 0.05
            page = f"/p{section}/{number}/page"
            pages[section in site.forbidden].add((site.host, page))
            list_.append(f"http://{site.host}:{port}{'/go' if leads else ''}{page}")
        (folder / "list").write_text("\n".join(list_) + "\n")
        program = Gannet(options.gannet, redis.url)
        program.run("enqueue", "-i", folder / "list", "--batch", "b", "--robots", "obey")
        start = time.monotonic()
        for number in range(options.workers):
            words = ["work", "--allow-net", "all", "--cache-limit", "1GB", "--concurrency", "64", "--until-empty"]
            children.append(program.start(open(folder / f"worker{number}", "w"), *words))
        if any([worker.wait(1200) for worker in children[2:]]):
            sys.exit("manners: a worker has failed")
        took = time.monotonic() - start
        batch = json.loads(program.run("batch", "show", "b", "--json").stdout)
        nginx.send_signal(signal.SIGQUIT)
        nginx.wait(30)
    finally:
        end(*children)
    asked = collections.Counter(tuple(line.split()[:2]) for line in (folder / "access").open())
    rules = {site.host: asked[(site.host, "/robots.txt")] for site in sites}
    wrong = []
    if trespasses := [place for place in pages[True] if asked[place]]:
        wrong.append(f"{len(trespasses)} forbidden URLs were requested, such as {trespasses[0]}")
    if set(rules.values()) != {1}:
        wrong.append(f"robots.txt was not requested once by each host: {rules}")
    if missed := [place for place in pages[False] if asked[place] != 1]:
        wrong.append(f"{len(missed)} permitted URLs were not requested once, such as {missed[0]}: {asked[missed[0]]}")
    # `failed` leaves out the jobs that were not permitted.
    if (batch["done"], batch["disallowed"], batch["failed"]) != (len(pages[False]), len(pages[True]), 0):
        wrong.append(f"the batch says {batch}")
    say(
        f"{options.workers} workers, {options.hosts} hosts, {options.jobs} jobs in {took:.0f} s: {len(pages[False])} fetched, {len(pages[True])} not permitted; "
        f"{sum(rules.values())} requests for robots.txt; {sum(bool(asked[place]) for place in pages[True])} forbidden requests"
    )
    for sentence in wrong:
        say(sentence)
    return 1 if wrong else 0


say(f"seed {options.seed}")
folder = pathlib.Path(tempfile.mkdtemp(prefix="gannet-manners-"))
folder.chmod(0o755)
try:
    sys.exit(main(folder))
finally:
    shutil.rmtree(folder, ignore_errors=True)
