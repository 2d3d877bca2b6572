"""Exchanges that are made up from a seed, as an origin would have answered, and the file that Tests/Helper/Archives reads them from."""

import gzip
import hashlib
import random
import struct

import brotli

START = 1_767_225_600_000  # 2026-01-01, in milliseconds


class Exchange:
    def __init__(self, number, url, kind):
        self.number = number
        self.url = url
        self.kind = kind
        # A second each, because an index has no smaller unit.
        self.milliseconds = START + number * 1000 + number % 1000
        self.request = None
        self.status = b"HTTP/1.1 200 OK"
        self.fields = []
        self.body = b""
        self.protocols = ""
        self.address = ""
        self.truncation = ""
        self.line_end = b"\r\n"

    @property
    def date(self):
        from datetime import datetime, timezone

        moment = datetime.fromtimestamp(self.milliseconds // 1000, timezone.utc)
        return moment.strftime("%Y-%m-%dT%H:%M:%S") + ".%03dZ" % (self.milliseconds % 1000)

    @property
    def timestamp(self):
        return "".join(c for c in self.date if c.isdigit())[:14]

    @property
    def head(self):
        return self.line_end.join([self.status] + [name + b": " + value for name, value in self.fields]) + 2 * self.line_end

    def bytes(self):
        values = [
            self.url.encode(), b"%d" % self.milliseconds, self.request or b"", self.head, self.body, self.protocols.encode(),
            self.address.encode(), self.truncation.encode(),
        ]
        return b"".join(struct.pack(">I", len(value)) + value for value in values)


def text(rng, count):
    words = [b"archive", b"fetch", b"queue", b"worker", b"host", b"lease", b"\xc3\xa9t\xc3\xa9", b"<p>", b"</p>", b"\n"]
    return b" ".join(rng.choice(words) for _ in range(count // 6 + 1))[:count]


def url_of(rng, number):
    host = rng.choice(["example.com", "www.example.org", "www2.Example.net", "127.0.0.1:8080", "xn--bcher-kva.example", "[::1]:81", "a.b.c.test:443"])
    scheme = rng.choice(["http", "https"])
    path = rng.choice(["/", "/Path/%d" % number, "/a%20b/{0}.html".format(number), "/%C3%A9/" + str(number) + "/", "/x//y/../" + str(number)])
    query = rng.choice(["", "?b=2&a=1&n=%d" % number, "?q=%26%25" + str(number), "?N=%d&a" % number])
    # The number makes it the only one.
    return "%s://%s%s%s" % (scheme, host, path, query or "?only=%d" % number)


def make(seed, count):
    rng = random.Random(seed)
    made = []
    whole = []
    for number in range(count):
        kinds = ["plain"] * 6 + ["gzip"] * 3 + ["br"] * 2 + ["chunked"] * 3 + ["h2"] * 4 + ["redirect"] * 2 + ["error"] * 2
        kinds += ["again"] * 3 + ["unchanged", "truncated", "odd", "empty"]
        kind = rng.choice(kinds)
        if number % 500 == 499:
            kind = "large"
        if kind == "again" and not whole:
            kind = "plain"
        exchange = Exchange(number, url_of(rng, number), kind)
        path = exchange.url.split("/", 3)[3].encode()
        exchange.request = b"GET /%s HTTP/1.1\r\nHost: host\r\nUser-Agent: trial\r\nAccept: */*\r\nAuthorization: Bearer secret\r\n\r\n" % path
        exchange.address = rng.choice(["192.0.2.7", "2001:db8::1", "127.0.0.1"])
        exchange.body = text(rng, rng.randrange(1, 4000)) + b" %d" % number
        fields = [(b"Server", b"trial"), (b"Content-Type", rng.choice([b"text/html; charset=utf-8", b"text/plain", b"application/json;x=1"]))]
        length = True
        if kind == "gzip":
            exchange.body = gzip.compress(exchange.body, mtime=0)
            fields.append((b"Content-Encoding", b"gzip"))
        elif kind == "br":
            exchange.body = brotli.compress(exchange.body, quality=4)
            fields.append((b"Content-Encoding", b"br"))
        elif kind == "chunked":
            fields.insert(1, (b"Transfer-Encoding", b"chunked"))
            length = False
            if rng.random() < 0.3:
                exchange.body = gzip.compress(exchange.body, mtime=0)
                fields.append((b"Content-Encoding", b"gzip"))
        elif kind == "h2":
            exchange.status = rng.choice([b"HTTP/2 200 ", b"HTTP/2 200", b"HTTP/2 404 "])
            exchange.protocols = "h2,tls/1.3"
            exchange.request = exchange.request.replace(b"HTTP/1.1", b"HTTP/2")
            fields = [(name.lower(), value) for name, value in fields]
            length = rng.random() < 0.5
        elif kind == "redirect":
            exchange.status = rng.choice([b"HTTP/1.1 301 Moved Permanently", b"HTTP/1.1 302 Found", b"HTTP/1.1 308 Permanent Redirect"])
            fields.append((b"Location", b"http://example.com/elsewhere?" + b"%d" % number))
            exchange.body = rng.choice([b"", b"<a href=x>moved</a>"])
        elif kind == "error":
            exchange.status = rng.choice([b"HTTP/1.1 404 Not Found", b"HTTP/1.0 500 Oh dear", b"HTTP/1.1 503 Service Unavailable"])
        elif kind == "again":
            earlier = rng.choice(whole)
            exchange.body = earlier.body
            fields += [(name, value) for name, value in earlier.fields if name.lower() == b"content-encoding"]
        elif kind == "unchanged":
            exchange.status = b"HTTP/1.1 304 Not Modified"
            fields = [(b"ETag", b'"e"')]
            exchange.body = b""
            length = False
        elif kind == "truncated":
            exchange.truncation = rng.choice(["length", "disconnect"])
            fields.append((b"Content-Length", b"%d" % (len(exchange.body) + 1000)))
            length = False
        elif kind == "odd":
            fields += [(b"X-Latin", b"caf\xe9"), (b"Set-Cookie", b"a=1"), (b"Set-Cookie", b"b=2"), (b"X-Empty", b"")]
            exchange.line_end = rng.choice([b"\r\n", b"\n"])
        elif kind == "empty":
            exchange.status = rng.choice([b"HTTP/1.1 200 OK", b"HTTP/1.1 204 No Content"])
            exchange.body = b""
        elif kind == "large":
            exchange.body = rng.randbytes(rng.randrange(300_000, 900_000))
        if length:
            fields.append((b"content-length" if kind == "h2" else b"Content-Length", b"%d" % len(exchange.body)))
        exchange.fields = fields
        made.append(exchange)
        if kind in ("plain", "gzip", "br", "chunked", "h2", "odd", "large"):
            whole.append(exchange)
    return made


def write(path, exchanges):
    with open(path, "wb") as file:
        for exchange in exchanges:
            file.write(exchange.bytes())


def digest(body):
    return "sha256:" + hashlib.sha256(body).hexdigest()
