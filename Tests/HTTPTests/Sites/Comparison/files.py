"""Files of robots.txt and paths, made up from a random generator."""

AGENTS = ["*", "*", "*", "gannet", "gannet", "Gannet", "GANNET", "other", "otherbot"]
STRANGE_AGENTS = [
    "gannet/1.0", "gannet*", "gan", "gannets", "gannet-image", "my-gannet", "", "g", "*bot", "gannet # ours", "Gannet (fast)", "* gannet", "net",
]  # fmt: skip
WORDS = ["a", "b", "ab", "index.html", "x.gif", "page", "~u", "A", "-", "_", "0"]
SPECIAL = ["*", "*", "*", "**", "$", "?", "?q=1", "=", "&", "&a=b", ";x", ":", "+", "!", "@", ",", "(", ")", "[", "]", "'"]
ESCAPES = ["%61", "%41", "%7e", "%7E", "%2F", "%2f", "%3F", "%3d", "%25", "%24", "%2A", "%2a", "%20", "%C3%A4", "%c3%a4", "%E3%83%84", "%3A"]
STRANGE = ["%", "%zz", "%4", "%ff", "%FE", "%C3", "%80%80", "%00"]
# Bytes that are not UTF-8, in the file as they are.
BYTES = ["\udcff", "\udcc3", "\udc80"]
RAW = ["ä", "ツ", " ", '"', "<", "\\", "^", "|", "{", "}", "`", "é"]
OTHER_KEYS = ["Sitemap: https://a.test/s.xml", "Host: a.test", "Noindex: /a", "nonsense", "Request-rate: 1/5", "Clean-param: x", "a:b", "<p>x</p>"]
DELAYS = ["1", "2.5", "0", "10", ".5", "3.", "-1", "1e1", "+2", "inf", "nan", "five", "1_0", "5 s", "", "1,5", "0x1", "٣"]
MISSPELT = ["Disalow:", "Useragent:", "User agent:", "Disallow", "Crawl delay:", "Allow", "Dissallow :", "User-agent"]
ENDS = ["\n"] * 12 + ["\r\n", "\r", "\n\n", "\n# comment\n"]
STRANGE_ENDS = ["\x0b", "\x0c", "\x1c", "\x85", "\u2028"]


def piece(random, is_pattern):
    kinds = [WORDS] * 8 + [SPECIAL] * (3 if is_pattern else 1) + [ESCAPES] * 2
    if random.random() < 0.1:
        kinds += [STRANGE] + ([RAW, BYTES] if is_pattern else [])
    chosen = random.choice(random.choice(kinds))
    return chosen if is_pattern or chosen not in ("[", "]") else "x"


def pattern(random):
    if random.random() < 0.03:
        return random.choice(["", "*", "/", "a", "*.gif$", "/*", "$", "/$", "https://a.test/a", "http:///b", "/robots.txt", "*?"])
    parts = "".join(random.choice(["/", "", ""]) + piece(random, True) for _ in range(random.randint(1, 5)))
    return "/" * (random.random() < 0.95) + parts + "$" * (random.random() < 0.1)


def rival(random, text):
    """A pattern that fits much the same paths, and is about as long."""
    kept = text[: random.randint(1, max(len(text), 1))]
    return kept + "*" * max(len(text) - len(kept) + random.randint(-3, 3), 0)


def file(random):
    """A file's bytes, and the patterns in it."""
    patterns = []
    text = "\ufeff" * (random.random() < 0.03)
    strange = random.random()
    for _ in range(random.randint(1, 4)):
        lines = []
        for _ in range(random.choice([1, 1, 1, 2, 3])):
            lines.append(f"{random.choice(['User-agent', 'user-agent', 'USER-AGENT'])}: {random.choice(STRANGE_AGENTS if random.random() < 0.1 else AGENTS)}")
            if random.random() < 0.05:
                lines.append(random.choice(OTHER_KEYS + ["Crawl-delay: 1"]))
        for _ in range(random.randint(0, 5)):
            kind = random.random()
            if kind < 0.08:
                lines.append(f"Crawl-delay: {random.choice(DELAYS)}")
            elif kind < 0.12:
                lines.append(random.choice(OTHER_KEYS))
            else:
                patterns.append(rival(random, patterns[-1]) if patterns and random.random() < 0.2 else pattern(random))
                if random.random() < 0.01:
                    lines.append("Disallow: /")
                    patterns[-1] += "/index.html"
                lines.append(f"{random.choice(['Allow', 'Disallow', 'Disallow', 'disallow', 'ALLOW'])}: {patterns[-1]}")
                if kind > 0.97:
                    value = lines[-1].split(":", 1)[1].strip()
                    lines[-1] = f"{random.choice(MISSPELT)} {value}"
        for line in lines:
            if random.random() < 0.05:
                line = random.choice([" ", "\t", "  "]) + line + random.choice([" ", "\t", " # comment", "#"])
            if strange < 0.03 and random.random() < 0.2:
                line += random.choice(["\xa0", "\x1f", "\u3000"])
            if strange > 0.97 and random.random() < 0.3:
                text += line + random.choice(STRANGE_ENDS)
            else:
                text += line + random.choice(ENDS)
    content = text.encode("utf-8", "surrogateescape")
    if 0.03 < strange < 0.05:
        # Bytes that are not UTF-8.
        for _ in range(3):
            place = random.randrange(len(content))
            content = content[:place] + random.choice([b"\xff", b"\xc3", b"\0", b"\x80"]) + content[place:]
    return content, patterns


def path(random, patterns):
    """A path on the wire, often one that a pattern fits or nearly fits."""
    if not patterns or random.random() < 0.1:
        if random.random() < 0.2:
            return random.choice(["/robots.txt", "/robots.txt?a", "/robots.txt;a", "/%72obots.txt", "/", "/robots.txt/", "/a/robots.txt"])
        return "/" + "".join(random.choice(["/", ""]) + piece(random, False) for _ in range(random.randint(0, 4)))
    text = random.choice(patterns)
    if text.endswith("$") and random.random() < 0.7:
        text = text[:-1]
    if random.random() < 0.7:
        while "*" in text:
            text = text.replace("*", random.choice(["", "a", "/b", "x.gif", "%C3%A4"]), 1)
    if text.endswith("/index.html") and random.random() < 0.5:
        text = text.removesuffix("index.html")
    for strange in STRANGE + BYTES:
        if strange in text and random.random() < 0.3:
            text = text.replace(strange, random.choice(STRANGE + BYTES), 1)
    # Another spelling of some octets.
    spelt = ""
    for character in text:
        kind = random.random()
        if ord(character) > 0x7E or character in ' "<>\\^`{|}#' or ord(character) < 0x21:
            spelt += "".join("%%%02X" % byte for byte in character.encode("utf-8", "surrogateescape"))
        elif kind < 0.04 and character not in "%":
            spelt += random.choice(["%%%02X", "%%%02x"]) % ord(character)
        elif kind < 0.05:
            spelt += piece(random, False)
        elif kind < 0.06:
            pass
        else:
            spelt += character
    if random.random() < 0.4:
        spelt += piece(random, False)
    return spelt if spelt.startswith("/") else "/" + spelt
