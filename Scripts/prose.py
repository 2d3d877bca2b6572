#!/usr/bin/env python3
"""Finds the worst violations of the rules for plain words in CONTRIBUTING.md.

  Scripts/prose.py           all files of the repository
  Scripts/prose.py FILE...   these files, and all files in these folders

It reads documentation, comments, the names of tests, and the string literals of Sources, among them every help text and message.
It finds:

- sentences of more than 30 words,
- excluded words and phrases (EXCLUDED below),
- sentences whose subject is no named thing: "What ...", "Those ...", "Whoever ...", "One that ...",
- words that the glossary replaces, where a text search can tell (GLOSSARY below).

Inline code counts as one word, and nothing in it is checked. So a page that has to name an excluded word writes it as code.
A table's cells, the items of a list, and headings are texts of their own. Code blocks are not read.

Each finding is a line, `file:line: sentence of 41 words: "First words ..."`. Ends with 0 when there is none, and with 1 otherwise.
"""

import os
import pathlib
import re
import subprocess
import sys

LONGEST = 30

# Paths that are not read, and why.
EXEMPT = [
    (r"\.lua$", "the scripts of the state engine are about to be rewritten, with their comments"),
    (r"^Tests/.*/Samples/", "samples are data"),
]

EXCLUDED = [
    (r"\blest\b", "so that … not"),
    (r"\bbe it\b", "whether … or"),
    (r"\b(?:in|to) (?:the|its|their|his|our) stead\b", "instead"),
    (r"\b(?:come|comes|came|coming) to nothing\b", "fails"),
    (r"\bwhat (?:becomes|became|has become|will become) of\b", "a noun, such as: the outcome of"),
    (r"\bwhat (?:comes|came|has come|will come|is to come) of\b", "a noun, such as: the outcome of"),
]

GLOSSARY = [
    (r"\bcourse\(\)", "run()"),
    (r"(?<!\bin )(?<!\bin-)(?<!\bof )\bflights?\b", "lock (in Redis), shared fetch (in the library) or pending command (in the room Redis)"),
    (r"\b(?:back|stand|stands|stood|standing|wait|waits|waiting|next|first|last) in line\b", "in the queue"),
    (r"\bwaiting lines?\b", "queue"),
]

SUBJECTS = re.compile(
    r"(What|Whoever|Whom|Who|Those|That which|(?:The )?[Oo]ne (?:that|which|who|whose|whom)|(?:Each|Any|All|None|Some) (?:that|who|which|whose|whom))\b"
)

# The name of a test begins without a capital, and may hold several thoughts: "..., and what is left waits". Behind a comma alone, "who" is harmless:
# "a user, who may not write, ...".
NAME_SUBJECTS = re.compile(rf"(?:^|[;:] |, (?:and|but|nor|or) |, (?!whom?\b))(?:{SUBJECTS.pattern})|^whatever\b", re.IGNORECASE)

# Files whose path fits are read so.
MARKDOWN = (".md",)
HASHES = (".sh", ".awk", ".yml", ".yaml", ".conf", "Makefile", "Dockerfile", ".modulemap")

CODE = "\x01"  # stands for a piece of inline code or an interpolation: one word

findings = []


class Report:
    """Collects the findings of one file."""

    def __init__(self, path):
        self.path = path
        self.found = []

    def add(self, line, sentence):
        self.found.append((line, sentence))


# MARK: Sentences

ABBREVIATIONS = re.compile(r"(?:\b(?:e\.g|i\.e|cf|vs|etc|no|ca|approx|Mr|Dr|St|[A-Z])\.|\.\.)$")
ENDING = re.compile(r"[.!?…]['\")\]*_”’]*(?=\s+['\"(\[*_“‘]*[A-Z0-9\x01]|\s*$)")
WORD = re.compile(r"[^\W_]|\x01")


def sentences(text):
    """The sentences of a text as pairs of offset and words."""
    start = 0
    for match in ENDING.finditer(text):
        end = match.end()
        if end < len(text.rstrip()) and ABBREVIATIONS.search(text[start : match.start() + 1]):
            continue
        yield start, text[start:end]
        start = end
    if text[start:].strip():
        yield start, text[start:]


def shown(text, words=7):
    parts = text.replace(CODE, "`…`").split()
    return " ".join(parts[:words]) + (" …" if len(parts) > words else "")


def judge(report, pieces, is_heading=False):
    """Checks one text: a list of pairs of line number and string, which belong together."""
    text, starts = "", []
    for line, piece in pieces:
        starts.append((len(text), line))
        text += piece.strip() + " "

    def line_at(offset):
        found = starts[0][1]
        for start, line in starts:
            if start > offset:
                break
            found = line
        return found

    for pattern, instead in EXCLUDED_AND_GLOSSARY:
        for match in pattern.finditer(text):
            report.add(line_at(match.start()), f'excluded: "{match[0]}"; write: {instead}')
    if is_heading:
        return
    for offset, sentence in sentences(text):
        bare = sentence.lstrip()
        offset += len(sentence) - len(bare)
        bare = bare.strip()
        count = sum(1 for word in bare.split() if WORD.search(word))
        if count > LONGEST:
            report.add(line_at(offset), f'sentence of {count} words: "{shown(bare)}"')
        subject = SUBJECTS.match(bare.lstrip("'\"([*_“‘"))
        if subject and count > 1 and not bare.rstrip("'\")]*_”’").endswith("?"):
            report.add(line_at(offset), f'subject is no named thing: "{shown(bare)}"')


EXCLUDED_AND_GLOSSARY = [(re.compile(pattern, re.IGNORECASE), instead) for pattern, instead in EXCLUDED + GLOSSARY]

# MARK: Markdown, as in pages and in comments

FENCE = re.compile(r"\s*(```+|~~~+)")
ITEM = re.compile(r"\s*(?:[-*+•]|\d+[.)])\s+")
PARAMETER = re.compile(r"(?:(?:Parameter|Parameters|Returns|Throws|Note|Warning|Important|Tip|Precondition|Complexity|SeeAlso)\b[^:]*:\s*)")
TABLE_RULE = re.compile(r"\s*\|?[\s:|-]+\|?\s*$")


def without_markup(text):
    text = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", CODE, text)
    text = re.sub(r"!?\[([^\]]*)\]\((?:[^()]|\([^()]*\))*\)", r"\1", text)
    text = re.sub(r"!?\[([^\]]*)\]\[[^\]]*\]", r"\1", text)
    text = re.sub(r"<(?:https?|mailto):[^>]*>|\bhttps?://\S+", CODE, text)
    return re.sub(r"</?[a-zA-Z][^<>]*>", " ", text)


def markdown(report, lines, is_comment=False):
    """Reads pairs of line number and string as Markdown."""
    block, fence, is_code = [], None, False
    after_blank, in_list = True, False
    table_lines = 0

    def flush(is_heading=False):
        nonlocal block
        if block:
            joined = "\n".join(piece for _, piece in block)
            # A piece of code may be wrapped, so markup is taken off the whole; code keeps its line breaks so that lines still count.
            joined = re.sub(r"(`+)(?!`)(.*?)(?<!`)\1(?!`)", lambda m: CODE + "\n" * m[2].count("\n"), joined, flags=re.DOTALL)
            joined = re.sub(r"\[([^\[\]]*)\]\(([^()\s]*)\)", lambda m: m[1], joined, flags=re.DOTALL)
            pieces = [without_markup(piece) for piece in joined.split("\n")]
            judge(report, [(block[0][0] + i, piece) for i, piece in enumerate(pieces)], is_heading)
        block = []

    for number, line in lines:
        opening = FENCE.match(line)
        if fence:
            if opening and opening[1].startswith(fence):
                fence = None
            continue
        if opening:
            flush()
            fence = opening[1]
            continue
        if not line.strip():
            flush()
            after_blank, is_code, table_lines = True, False, 0
            continue
        item = ITEM.match(line)
        indent = len(line) - len(line.lstrip())
        if not item and indent == 0:
            in_list = False
        if not is_comment and after_blank and indent >= 4 and not in_list and not item:
            is_code = True
        after_blank = False
        if is_code:
            continue
        stripped = line.strip()
        if stripped.startswith("|") or (table_lines and "|" in stripped):
            flush()
            table_lines += 1
            if TABLE_RULE.match(stripped):
                continue
            row = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", CODE, stripped).replace("\\|", " ")
            for cell in row.strip("|").split("|"):
                # A column's title is a heading.
                judge(report, [(number, without_markup(cell))], is_heading=table_lines == 1)
            continue
        if re.match(r"#{1,6}\s", stripped) and not is_comment:
            flush()
            block = [(number, stripped.lstrip("# "))]
            flush(is_heading=True)
            continue
        if re.match(r"\[[^\]]+\]:\s|@\w+|<!--|---+$|===+$|\}$", stripped):
            flush()
            continue
        if stripped.startswith(">"):
            stripped = stripped.lstrip("> ")
        if item:
            flush()
            in_list = True
            rest = PARAMETER.sub("", line[item.end() :], count=1)
            block = [(number, rest)]
        elif is_comment and indent >= 2 and not in_list and re.search(r"\S {2,}\S", stripped):
            # Columns, as in a script's list of what it can be called with.
            flush()
            for cell in re.split(r" {2,}", stripped):
                judge(report, [(number, without_markup(cell))])
        elif is_comment and indent >= 2 and not in_list:
            flush()
            judge(report, [(number, without_markup(stripped))])
        else:
            if block and re.match(r".*  $|.*\\$", block[-1][1]):
                flush()
            block.append((number, stripped))
    flush()


def page(report, text):
    lines = list(enumerate(text.split("\n"), 1))
    if report.path.endswith("CHANGELOG.md"):
        # Past releases stay as they were told.
        sections = [i for i, (_, line) in enumerate(lines) if line.startswith("## ")]
        if len(sections) > 1:
            lines = lines[: sections[1]]
    markdown(report, lines)


# MARK: Swift and C

NOT_PROSE = re.compile(r"\s*(?:MARK:|swift-tools-version|swift-format-ignore|swiftlint|shellcheck|fmt:|!/|SPDX)")

TOKEN = re.compile(
    r"""
    (?P<line>//[^\n]*)
  | (?P<block>/\*)
  | (?P<raw>\#+\"(?:\"\")?)
  | (?P<long>\"\"\")
  | (?P<string>\")
  | (?P<newline>\n)
    """,
    re.VERBOSE,
)


class Swift:
    """Comments and string literals of a Swift file."""

    def __init__(self, text):
        self.text = text
        self.comments = []  # (line, column text before it is blank, marker, words)
        self.literals = []  # (line, end offset, start offset, words, is multi-line)
        self.starts = [0] + [match.end() for match in re.finditer("\n", text)]

    def line(self, offset):
        low, high = 0, len(self.starts)
        while high - low > 1:
            middle = (low + high) // 2
            if self.starts[middle] <= offset:
                low = middle
            else:
                high = middle
        return low + 1

    def scan(self, at=0, until=None):
        """Reads code, up to the parenthesis that closes an interpolation."""
        text, depth = self.text, 0
        while True:
            match = TOKEN.search(text, at) if until is None else re.compile(TOKEN.pattern + r"|(?P<paren>[()])", re.VERBOSE).search(text, at)
            if not match:
                return len(text)
            kind, at = match.lastgroup, match.end()
            if kind == "paren":
                depth += 1 if match[0] == "(" else -1
                if depth < 0:
                    return at
            elif kind == "line":
                begin = self.starts[self.line(match.start()) - 1]
                marker = re.match(r"/+!?", match[0])[0]
                self.comments.append((self.line(match.start()), not text[begin : match.start()].strip(), marker, match[0][len(marker) :]))
            elif kind == "block":
                at = self.block(match.start())
            elif kind in ("raw", "long", "string"):
                at = self.literal(match.start(), match[0])

    def block(self, start):
        depth, at = 0, start
        for match in re.finditer(r"/\*|\*/", self.text[start:]):
            depth += 1 if match[0] == "/*" else -1
            if depth == 0:
                at = start + match.end()
                break
        else:
            at = len(self.text)
        line = self.line(start)
        for i, piece in enumerate(self.text[start:at].split("\n")):
            self.comments.append((line + i, True, "/*", re.sub(r"^\s*/?\*+/?|\*/\s*$", " ", piece)))
        return at

    def literal(self, start, opening):
        hashes = opening.count("#")
        quotes = opening.count('"')
        closing = '"' * quotes + "#" * hashes
        interpolation = "\\" + "#" * hashes + "("
        at, words = start + len(opening), []
        text = self.text
        while at < len(text):
            if text.startswith(closing, at):
                at += len(closing)
                break
            if text.startswith(interpolation, at):
                at = self.scan(at + len(interpolation), until=")")
                words.append(CODE)
            elif text[at] == "\\" and not hashes:
                escaped = text[at + 1 : at + 2]
                if escaped == "\n":
                    words.append(" ")
                else:
                    words.append({"n": "\n", "t": " "}.get(escaped, escaped))
                at += 2
            elif text[at] == "\n" and quotes == 1:
                break
            else:
                words.append(text[at])
                at += 1
        self.literals.append((self.line(start), start, at, "".join(words), quotes == 3))
        return at


def comments(report, found):
    """Joins the lines of each comment and reads it."""
    block, last, kind = [], None, None

    def flush():
        nonlocal block
        if block:
            margin = min((len(w) - len(w.lstrip()) for _, w in block if w.strip()), default=0)
            markdown(report, [(number, words[margin:]) for number, words in block], is_comment=True)
        block = []

    for line, alone, marker, words in sorted(found, key=lambda comment: comment[0]):
        if NOT_PROSE.match(words):
            flush()
            last = None
            continue
        if not alone or last != line - 1 or marker != kind:
            flush()
        block.append((line, words))
        last, kind = (line, marker) if alone else (None, None)
    flush()


NAME = re.compile(r"\bfunc `([^`\n]* [^`\n]*)`")


def test_names(report, source):
    """Reads the names of tests that are sentences: raw identifiers."""
    for match in NAME.finditer(source.text):
        name, line = match[1], source.line(match.start())
        judge(report, [(line, name)])
        if NAME_SUBJECTS.search(name):
            report.add(line, f'subject is no named thing: "{shown(name)}"')


def swift(report, text):
    source = Swift(text)
    source.scan()
    comments(report, source.comments)
    if report.path.startswith("Tests/") or "/Tests/" in report.path:
        test_names(report, source)
    is_source = report.path.startswith("Sources/") or "/Sources/" in report.path
    # Pieces that are joined by + are one text.
    texts, end = [], None
    for line, start, stop, words, is_long in sorted(source.literals, key=lambda literal: literal[1]):
        if texts and end is not None and end < start and re.fullmatch(r"\s*\+\s*", text[end:start]):
            texts[-1][0].append((line, words))
        else:
            texts.append(([(line, words)], is_long, text[max(0, start - 40) : start]))
        end = stop
    for pieces, is_long, before in texts:
        whole = " ".join(words for _, words in pieces)
        if len(whole.split()) < 4:
            continue
        # Of tests only their names are read: their other literals are data.
        if not is_source and not re.search(r"@(?:Test|Suite)\(\s*$", before):
            continue
        if is_long and re.search(r"[{};$]|\[\[|==", whole):
            continue  # another language's code
        if is_long:
            first = pieces[0][0]
            markdown(report, [(first + i, words.strip()) for i, words in enumerate(pieces[0][1].split("\n"))])
        else:
            for paragraph in paragraphs(pieces):
                judge(report, [(line, without_markup(words)) for line, words in paragraph])


def paragraphs(pieces):
    current = []
    for line, words in pieces:
        parts = words.split("\n")
        for i, part in enumerate(parts):
            if i > 0:
                yield current
                current = []
            current.append((line, part))
    yield current


# MARK: Shell, awk and what else has # before its comments; Python


def hashes(report, text):
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r"\s*(#+)(.*)$", line)
        if match:
            if not (number == 1 and line.startswith("#!")):
                found.append((number, True, "#", match[2]))
            continue
        # Behind code: a # after a blank, outside quotation marks.
        for match in re.finditer(r"\s(##?)\s+(.*)$", line):
            before = line[: match.start()]
            if before.count('"') % 2 == 0 and before.count("'") % 2 == 0:
                found.append((number, False, "#", match[2]))
                break
    comments(report, found)


def python(report, text):
    import io
    import tokenize

    found, previous = [], None
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            if not token.string.startswith("#!"):
                found.append((token.start[0], not token.line[: token.start[1]].strip(), "#", token.string.lstrip("#")))
        elif token.type == tokenize.STRING and previous in (None, tokenize.NEWLINE, tokenize.INDENT, tokenize.NL):
            body = re.sub(r'^[rbuRBU]*("""|\'\'\'|"|\')|("""|\'\'\'|"|\')$', "", token.string)
            markdown(report, [(token.start[0] + i, line) for i, line in enumerate(body.split("\n"))], is_comment=True)
        if token.type not in (tokenize.COMMENT, tokenize.NL, tokenize.DEDENT):
            previous = token.type
    comments(report, found)


# MARK: Files


def reader(path):
    name = os.path.basename(path)
    if name.endswith(MARKDOWN):
        return page
    if name.endswith((".swift", ".h", ".c")):
        return swift
    if name.endswith(".py"):
        return python
    if name.endswith(HASHES) or path == ".ci/run":
        return hashes
    if "." not in name:
        try:
            with open(path, "rb") as file:
                first = file.readline(100)
        except OSError:
            return None
        if first.startswith(b"#!"):
            return python if b"python" in first else hashes
    return None


def repository():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True, text=True, check=True
    )
    return sorted(set(listed.stdout.split("\0")) - {""})


def main(arguments):
    if arguments and arguments[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0
    root = pathlib.Path.cwd()
    files = []
    for name in arguments:
        below = sorted(str(file) for file in pathlib.Path(name).rglob("*") if file.is_file()) if os.path.isdir(name) else [name]
        files += below
    files = files or repository()
    found, kinds, read = 0, {}, 0
    for name in files:
        path = os.path.relpath(os.path.abspath(name), root)
        if any(re.search(pattern, path) for pattern, _ in EXEMPT) or not os.path.isfile(path):
            if arguments and not os.path.isfile(path):
                print(f"prose: there is no file {name}", file=sys.stderr)
                return 64
            continue
        read_file = reader(path)
        if not read_file:
            continue
        read += 1
        report = Report(path)
        read_file(report, pathlib.Path(path).read_text(encoding="utf-8", errors="replace"))
        for line, sentence in sorted(set(report.found)):
            print(f"{path}:{line}: {sentence}")
            kind = re.match(r"[a-z ]+", sentence)[0].strip()
            kinds[kind] = kinds.get(kind, 0) + 1
            found += 1
    if found:
        sums = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items(), key=lambda pair: -pair[1]))
        print(f"prose: {found} findings in {read} files ({sums})", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
