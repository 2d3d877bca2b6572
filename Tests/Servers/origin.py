"""An nginx at all of 127.0.0.0/8, so that there are as many hosts as wanted. The body of each URL follows from the URL."""

import collections
import hashlib
import signal
import socket
import subprocess

from base import free_port, until

# How often a body repeats its first line, by the first letter of the path. A large body passes through a file of the worker.
TIMES = {"s": 1, "m": 8**3, "l": 8**4 * 2}


class Origin:
    """With a pace, it answers so many times a second: each worker by its user agent, or all together."""

    def __init__(self, folder, pace=None, by="$http_user_agent"):
        self.port, self.log = free_port(), folder / "access"
        folders = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
        text = f"""daemon off; pid {folder}/pid; error_log {folder}/errors; worker_processes 1;
            events {{ worker_connections 8192; }}
            http {{ log_format one '$host$request_uri $status $body_bytes_sent'; access_log {self.log} one buffer=1m flush=1s;
              keepalive_requests 1000000; {folders}
              {self.paced(folder, pace, by) if pace else ""}
              server {{ listen 0.0.0.0:{self.port} backlog=4096; {"location / { limit_req zone=paced burst=2000; proxy_pass http://paced; }" if pace else self.bodies} }} }}"""
        (folder / "nginx.conf").write_text(text)
        self.folder = folder
        self.start()

    def start(self):
        words = ["nginx", "-p", self.folder, "-e", self.folder / "errors", "-c", self.folder / "nginx.conf"]
        self.process = subprocess.Popen(words, start_new_session=True)
        until("nginx listens", lambda: socket.socket().connect_ex(("127.0.0.1", self.port)) == 0)

    bodies = """set $one "body of $host$request_uri\\n"; default_type text/plain;
        location / { return 200 $one; }
        location /m/ { set $a "$one$one$one$one$one$one$one$one"; set $b "$a$a$a$a$a$a$a$a"; return 200 "$b$b$b$b$b$b$b$b"; }
        location /l/ { set $a "$one$one$one$one$one$one$one$one"; set $b "$a$a$a$a$a$a$a$a"; set $c "$b$b$b$b$b$b$b$b";
          return 200 "$c$c$c$c$c$c$c$c$c$c$c$c$c$c$c$c"; }
        location /x/ { return 404; }"""

    def paced(self, folder, pace, by):
        """nginx delays no answer of its own, so a second server of it gives the answers."""
        return f"""limit_req_zone {by} zone=paced:1m rate={pace}r/s;
            proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host;
            upstream paced {{ server unix:{folder}/inner; keepalive 64; }}
            server {{ listen unix:{folder}/inner; access_log off; {self.bodies} }}"""

    def answered(self):
        """How many requests its log has so far. nginx writes it each second."""
        with self.log.open("rb") as log:
            return sum(1 for _ in log)

    def requests(self):
        """Ends the origin, so that its log is complete. Answers how often each URL was asked for, and how often it was answered whole."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(30)
        asked, answered = collections.Counter(), collections.Counter()
        with self.log.open() as lines:
            for line in lines:
                name, status, _ = line.rsplit(" ", 2)
                asked[name] += 1
                answered[name] += status == "200"
        return asked, answered


def urls_of(origin, jobs, hosts):
    """So many URLs at so many addresses of the origin."""
    return [f"http://127.{1 + number % hosts // 250}.{number % hosts % 250}.1:{origin.port}/{number}" for number in range(jobs)]


def body_of(url):
    """The size and the digest of the body that the origin has for a URL, or None where it has none."""
    host, _, path = url.removeprefix("http://").partition("/")
    kind = path[0]
    if kind == "x":
        return None
    body = f"body of {host.partition(':')[0]}/{path}\n".encode() * TIMES.get(kind, 1)
    return len(body), hashlib.sha256(body).hexdigest()
