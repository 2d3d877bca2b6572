"""A robots.txt read slowly by RFC 9309, and where it is asked to, as protego reads it.

Each quirk is one way in which protego differs from the RFC. Without quirks this is the RFC. With all of them it has to be protego. So the quirks
that a difference needs are its explanation. Docs/ROBOTS.md explains each by the RFC.
"""

import re
import urllib.parse

QUIRKS = (
    "names",  # a name in the file is a part of the agent's; a version or a star in the file is a part of the name
    "keys",  # misspelt keys, and keys without a colon
    "groups",  # keys that the RFC does not have end the list of agents
    "breaks",  # vertical tabs, form feeds and Unicode's separators end a line
    "blanks",  # Unicode's blanks are blanks
    "bytes",  # bytes that are not UTF-8 are all the same, encoded or not
    "percent",  # a % without two digits is not %25
    "equals",  # = is one octet, and other reserved characters are three
    "dollar",  # a rule with $ is also a rule with %24
    "index",  # what allows /index.html also allows /
    "absolute",  # a rule that is a URL is a path with this URL in it
    "self",  # /robots.txt is allowed with a query or parameters, and not if it is written with escapes
    "last",  # the last Crawl-delay counts, and not the longest
    "numbers",  # a Crawl-delay may be anything that Python can make a number of
)

ALIASES = {
    "disallow": {"disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"},
    "user-agent": {"user-agent", "useragent", "user agent"},
    "crawl-delay": {"crawl-delay", "crawl delay"},
    "allow": {"allow"},
    # Known to protego, and without a meaning here.
    "sitemap": {"sitemap", "sitemaps", "site-map"},
    "host": {"host"},
    "request-rate": {"request-rate", "request rate"},
    "visit-time": {"visit-time", "visit time"},
}
CANONICAL = {alias: key for key, aliases in ALIASES.items() for alias in aliases}
UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
HEXADECIMAL = frozenset(b"0123456789ABCDEFabcdef")


def octets(text):
    return text.encode("utf-8", "surrogateescape")


def normal(raw, is_pattern, quirks):
    """A path or a pattern as it is compared."""
    parts = []  # text that stays, or bytes to be encoded

    def data(byte):
        if not parts or not isinstance(parts[-1], bytearray):
            parts.append(bytearray())
        parts[-1].append(byte)

    index = 0
    while index < len(raw):
        byte = raw[index]
        index += 1
        if byte == 0x25 and len(raw) - index >= 2 and raw[index] in HEXADECIMAL and raw[index + 1] in HEXADECIMAL:
            byte = int(raw[index : index + 2], 16)
            index += 2
            if byte in b"/%" or (is_pattern and byte in b"*"):
                parts.append("%%%02X" % byte)
            else:
                data(byte)
        elif byte in b"/" or (is_pattern and byte in b"*"):
            parts.append(chr(byte))
        elif byte == 0x25:
            parts.append("%" if "percent" in quirks else "%25")
        else:
            data(byte)
    text = ""
    for part in parts:
        if isinstance(part, str):
            text += part
            continue
        if "bytes" in quirks:
            part = part.decode("utf-8", "replace").encode()
        text += "".join(chr(b) if b in UNRESERVED or (b == 0x3D and "equals" in quirks) else "%%%02X" % b for b in part)
    return text


class Rule:
    def __init__(self, allows, pattern, is_anchored, line):
        self.allows, self.pattern, self.is_anchored, self.line = allows, pattern, is_anchored, line
        self.length = len(pattern) + is_anchored
        expression = ".*".join(re.escape(piece) for piece in re.sub(r"\*+", "*", pattern).split("*"))
        self.fits = re.compile(expression + (r"\Z" if is_anchored else ""), re.DOTALL).match


class Robots:
    """The rules of a file for one agent."""

    def __init__(self, content, agent, quirks=frozenset()):
        self.quirks = quirks
        content = content.removeprefix(b"\xef\xbb\xbf")
        text = content.decode("utf-8", "replace" if "bytes" in quirks else "surrogateescape")
        # Each group is its agents' names, its rules and its delays.
        groups = []
        is_closed = True
        for number, line in enumerate(self.lines(text), 1):
            key, value = self.key(self.strip(line.split("#", 1)[0]))
            if key is None:
                continue
            if key == "user-agent":
                if is_closed:
                    groups.append(([], [], []))
                    is_closed = False
                groups[-1][0].append(value)
                continue
            if key in ("allow", "disallow") or ("groups" in quirks and key not in ("sitemap", "host")):
                is_closed = True
            if not groups or not value:
                continue
            if key in ("allow", "disallow"):
                groups[-1][1].extend(self.rules_of(key == "allow", octets(value), number))
            elif key == "crawl-delay":
                delay = self.seconds(value)
                if delay is not None:
                    groups[-1][2].append(delay)
        mine = self.chosen(groups, agent)
        self.rules = [rule for group in mine for rule in group[1]]
        delays = [delay for group in mine for delay in group[2]]
        self.delay = None if not delays else delays[-1] if "last" in quirks else max(delays)

    def lines(self, text):
        if "breaks" in self.quirks:
            return text.splitlines()
        return re.split(r"\r\n|\r|\n", text)

    def strip(self, text):
        return text.strip() if "blanks" in self.quirks else text.strip(" \t")

    def key(self, line):
        """The key by its usual name, and the value."""
        name, colon, raw = line.partition(":")
        name = self.strip(name).lower() if "blanks" in self.quirks else self.strip(name)
        # Only ASCII has a case for the RFC.
        name = re.sub("[A-Z]", lambda letter: letter[0].lower(), name)
        value = self.strip(raw)
        if "keys" not in self.quirks:
            return (name, value) if colon else (None, "")
        if colon and name in CANONICAL:
            return CANONICAL[name], value
        if not colon or (raw and not raw[0].isspace()):
            words = line.split()
            for count in (1, 2):
                alias = " ".join(words[:count]).lower()
                if alias in CANONICAL:
                    return CANONICAL[alias], " ".join(words[count:])
        return (name, value) if colon else (None, "")

    def chosen(self, groups, agent):
        """The groups that apply."""
        if "names" not in self.quirks:
            named = [g for g in groups if any(token(name) == token(agent) for name in g[0])]
            return named or [g for g in groups if "*" in g[0]]
        keyed = {}
        for index, group in enumerate(groups):
            for name in group[0]:
                name = self.strip(name.lower())
                for key in [name] + ([name.replace("*", "")] if "*" in name and name != "*" else []):
                    if key:
                        keyed.setdefault(key, dict())[index] = group
        best = max(keyed, key=lambda key: score(key, agent), default=None)
        return list(keyed[best].values()) if best is not None and score(best, agent) else []

    def rules_of(self, allows, value, line):
        rules = []
        if "dollar" in self.quirks and b"$" in value:
            rules += self.rules_of(allows, value.replace(b"$", b"%24"), line)
        if "absolute" in self.quirks and re.match(rb"https?://", value):
            value = b"/" + value
        is_anchored = value.endswith(b"$")
        pattern = normal(value[:-1] if is_anchored else value, True, self.quirks)
        rules.append(Rule(allows, pattern, is_anchored, line))
        if "index" in self.quirks and allows and not is_anchored and pattern.endswith("/index.html"):
            rules.append(Rule(True, pattern.removesuffix("index.html"), True, line))
        return rules

    def seconds(self, value):
        if "numbers" not in self.quirks and not re.fullmatch(r"[0-9]+\.?[0-9]*|\.[0-9]+", value):
            return None
        try:
            number = float(value)
        except ValueError:
            return None
        return number if 0 <= number < float("inf") else None

    def disallowing(self, path):
        """The line of the rule that disallows the path, or None."""
        compared = normal(path.encode(), False, self.quirks)
        is_self = urllib.parse.urlparse("http://a.test" + path).path == "/robots.txt" if "self" in self.quirks else compared == "/robots.txt"
        if is_self:
            return None
        best = None
        for rule in self.rules:
            if rule.fits(compared) and (best is None or (rule.length, rule.allows) > (best.length, best.allows)):
                best = rule
        return None if best is None or best.allows else best.line


def token(name):
    found = re.match(r"[A-Za-z0-9._-]+", name)
    return found[0].lower() if found else None


def score(key, agent):
    if key == "*":
        return 1
    for found in re.finditer("(?=" + re.escape(key) + ")", agent.lower()):
        before = agent[found.start() - 1] if found.start() else "/"
        if not (before.isalnum() or before in "-_"):
            return len(key)
    return 0
