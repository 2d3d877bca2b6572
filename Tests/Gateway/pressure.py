"""Clients that want to keep a gateway busy, all at once and many times, while other clients are served.

  pressure.py GANNET [CONNECTIONS [MEGABYTES [TOKENS]]]   10000 connections, a body of 1024 MB and 5000 wrong tokens

After each kind of pressure another client is answered, and the gateway's peak of memory is below its bound. Ends with 1 and a sentence
when something is not as it should be.
"""

import http.client
import resource
import socket
import sys

from processes import trial

gannet = sys.argv[1]
connections, megabytes, tokens = (int(text) for text in sys.argv[2:5] + ["10000", "1024", "5000"][len(sys.argv[2:5]) :])
TOKEN = "0123456789abcdef-right"
MEGABYTE = 1 << 20


class Gateway:
    def __init__(self, processes, name, words=()):
        self.processes, self.name = processes, name
        self.process, self.port = processes.gateway(name, words)

    def peak(self):
        """Megabytes that the process had at most."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) >> 10

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def ask(self, path="/healthz", headers={}, connection=None):
        asked = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        asked.request("GET", path, headers=headers)
        answer = asked.getresponse()
        answer.read()
        return answer.status

    def end(self, what, limit):
        """Another client is served, and memory is bounded."""
        status = self.ask()
        peak = self.peak()
        if status != 200:
            self.processes.fail(f"{what}: another client got {status}")
        if peak > limit:
            self.processes.fail(f"{what}: the gateway took {peak} MB; {limit} are its bound")
        if self.processes.end(self.process) != 0:
            self.processes.fail(f"{what}: the gateway ended badly")
        print(f"pressure: {what}: others were served, {peak} MB at most", file=sys.stderr)


def idle(processes):
    """Behind a proxy, an address has no share of its own. Half of the connections say nothing, half are in the middle of a request."""
    gateway = Gateway(processes, "idle", ["--behind-proxy", "--token", TOKEN, "--max-connections", str(2 * connections)])
    clients = [gateway.connect() for _ in range(connections)]
    for client in clients[::2]:
        client.sendall(b"GET /v1/fetch?url=http://127.0.0.1/ HTTP/1.1\r\nHost: a\r\nHalf: ")
    # Another 250 requests, which all have to wait for their turn among the idle ones.
    for _ in range(250):
        if gateway.ask() != 200:
            processes.fail("a client among idle ones was not answered")
    gateway.end(f"{connections} idle and half-open connections", 50 + connections // 100)
    for client in clients:
        client.close()


def crowded(processes):
    """More connections than there may be: the idle ones make room, whoever asks."""
    gateway = Gateway(processes, "crowded", ["--behind-proxy", "--token", TOKEN, "--max-connections", "256"])
    clients = [gateway.connect() for _ in range(1000)]

    def served():
        try:
            return gateway.ask() == 200
        except ConnectionError:
            return False

    # A connection of the last second makes no room: its request is on its way. These come within less than that.
    processes.wait("room for another client", served)
    gateway.end("1000 connections where 256 may be", 80)
    for client in clients:
        client.close()


def large(processes):
    """A list without an end that is nearly all remarks, so that Redis does not hold it, and a list that is one endless line."""
    gateway = Gateway(processes, "large")
    remarks = b"# a remark\n" * (MEGABYTE // 11)
    remarks += b"#" * (MEGABYTE - len(remarks) - 1) + b"\n"
    answers = []
    for piece in [b"http://127.0.0.1/wanted\n" + remarks[24:], b"a" * MEGABYTE]:
        client = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=300)
        client.putrequest("POST", "/v1/jobs")
        client.putheader("Content-Type", "text/plain")
        client.putheader("Content-Length", str(megabytes * MEGABYTE))
        client.endheaders()
        sent = 0
        try:
            while sent < megabytes:
                client.send(piece)
                sent += 1
                if sent % 64 == 0 and gateway.ask() != 200:
                    processes.fail("another client was not answered during a large body")
        except (BrokenPipeError, ConnectionResetError):
            pass
        answer = client.getresponse()
        answers.append((answer.status, answer.read()))
    if answers[0][0] != 200 or f'"accepted":{megabytes}'.encode() not in answers[0][1] or answers[1][0] != 422:
        processes.fail(f"large bodies were answered {answers}")
    gateway.end(f"two bodies of {megabytes} MB", 100)


def guessed(processes):
    """All by one client on one connection, and by many."""
    gateway = Gateway(processes, "guessed", ["--token", TOKEN])
    kept = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=30)
    for number in range(tokens):
        status = gateway.ask("/v1/status", {"Authorization": f"Bearer 0123456789abcdef-{number:05}"}, kept if number % 2 else None)
        if status != 401:
            processes.fail(f"wrong token {number} was answered {status}")
    if gateway.ask("/v1/status", {"Authorization": f"Bearer {TOKEN}"}) != 200:
        processes.fail("the right token was refused after wrong ones")
    gateway.end(f"{tokens} wrong tokens", 80)


def main(processes):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if hard != resource.RLIM_INFINITY and hard < connections + 500:
        processes.fail(f"this machine allows {hard} open files; {connections + 500} are needed ('ulimit -Hn')")
    processes.redis()
    for pressure in [idle, crowded, large, guessed]:
        pressure(processes)


trial("pressure", gannet, 600, main)
