"""A relay between a browser and a gateway. It notes which requests pass, and can stand for another server first, as a rebound name does."""

import re
import socket
import threading
import urllib.parse


def listen():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(64)
    return listener


class Relay:
    """`first` is the port of another server, until `turn()`."""

    def __init__(self, gateway, first=None):
        self.gateway, self.first = gateway, first
        self.lock = threading.Lock()
        self.requests = b""
        self.asked = self.answered = 0
        listener, watcher = listen(), listen()
        self.port, self.watch = listener.getsockname()[1], watcher.getsockname()[1]
        self.accept(listener, self.relay)
        self.accept(watcher, self.tell)

    def accept(self, listener, serve):
        def run():
            while True:
                client, _ = listener.accept()
                threading.Thread(target=serve, args=[client], daemon=True).start()

        threading.Thread(target=run, daemon=True).start()

    def turn(self):
        self.first = None

    def names(self):
        """The attempts whose requests have come."""
        with self.lock:
            text = urllib.parse.unquote(self.requests.decode(errors="replace"))
        return set(re.findall(r"/wanted/(\w+)", text)) | set(re.findall(r"/v1/(events)\?", text))

    def is_answered(self):
        with self.lock:
            return self.asked == self.answered

    def relay(self, client):
        port = self.first or self.gateway
        server = socket.create_connection(("127.0.0.1", port))
        threading.Thread(target=self.pump, args=[client, server, port == self.gateway, None], daemon=True).start()
        self.pump(server, client, None, port == self.gateway)

    def pump(self, source, target, requests, answers):
        try:
            while piece := source.recv(65536):
                with self.lock:
                    if requests:
                        self.requests += piece
                        self.asked += len(re.findall(rb"(?m)^(GET|POST|OPTIONS) /", piece))
                    if answers:
                        self.answered += len(re.findall(rb"HTTP/1\.1 [2-5]", piece))
                target.sendall(piece)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def tell(self, client):
        """Answers a page that asks whether the request of an attempt has come."""
        head = client.recv(65536).decode(errors="replace")
        name = head.split(" ")[1].rsplit("/", 1)[-1] if " " in head else ""
        body = "yes" if name in self.names() else "no"
        client.sendall(f"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}".encode())
        client.close()
