"""Finds the code in a file of Swift or Lua: a small tokenizer that knows comments, strings and conditional compilation.

`masked` answers a text of the same length. Comments are blank, and each character of a string literal is a quotation mark, with all that is
interpolated in it. So a pattern that matches the masked text has found code, and its place is the place in the file.
"""

import re

QUOTE = re.compile(r'(#*)("""|")')
LONG_BRACKET = re.compile(r"\[(=*)\[")


def masked(text: str, is_lua: bool) -> str:
    characters = list(text)

    def fill(begin: int, end: int, with_: str) -> None:
        for place in range(begin, end):
            if characters[place] != "\n":
                characters[place] = with_

    (scan_lua if is_lua else scan_swift)(text, fill)
    result = "".join(characters)
    return result if is_lua else without_conditional(result)


def line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def scan_swift(text: str, fill) -> None:
    at = 0
    while at < len(text):
        quote = QUOTE.match(text, at)
        begin = at
        if text.startswith("//", at):
            at = line_end(text, at)
            fill(begin, at, " ")
        elif text.startswith("/*", at):
            at = end_of_comment(text, at)
            fill(begin, at, " ")
        elif quote:
            at = end_of_string(text, quote)
            fill(begin, at, '"')
        elif text[at] == "`":
            at = text.find("`", at + 1) + 1 or len(text)
            fill(begin, at, "x")
        else:
            at += 1


def end_of_comment(text: str, at: int) -> int:
    """Comments of Swift stand within each other."""
    depth = 0
    for mark in re.compile(r"/\*|\*/").finditer(text, at):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    return len(text)


def end_of_string(text: str, quote: re.Match) -> int:
    hashes, marks = quote[1], quote[2]
    at = quote.end()
    while at < len(text):
        if text.startswith(marks + hashes, at):
            return at + len(marks + hashes)
        if text.startswith("\\" + hashes + "(", at):
            at = end_of_interpolation(text, at + len(hashes) + 2)
        elif text.startswith("\\" + hashes, at):
            at += len(hashes) + 2
        else:
            at += 1
    return at


def end_of_interpolation(text: str, at: int) -> int:
    depth = 1
    while at < len(text) and depth:
        quote = QUOTE.match(text, at)
        if quote:
            at = end_of_string(text, quote)
            continue
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return at


def scan_lua(text: str, fill) -> None:
    at = 0
    while at < len(text):
        begin = at
        is_comment = text.startswith("--", at)
        bracket = LONG_BRACKET.match(text, at + 2 if is_comment else at)
        if bracket:
            end = text.find("]" + bracket[1] + "]", bracket.end())
            at = len(text) if end < 0 else end + len(bracket[0])
        elif is_comment:
            at = line_end(text, at)
        elif text[at] in "'\"":
            at += 1
            while at < len(text) and text[at] != text[begin]:
                at += 2 if text[at] == "\\" else 1
            at += 1
        else:
            at += 1
            continue
        fill(begin, min(at, len(text)), " " if is_comment else '"')


def without_conditional(text: str) -> str:
    """Blanks all branches of `#if`, and the directives themselves: they are for sanitizers."""
    lines, depth = [], 0
    for line in text.split("\n"):
        word = line.strip().partition(" ")[0]
        depth += word == "#if"
        lines.append(" " * len(line) if depth else line)
        depth -= word == "#endif"
    return "\n".join(lines)


def open_brackets(text: str) -> list[str]:
    """For each line, the innermost bracket that is open where the line begins."""
    found, stack = [], []
    for line in text.split("\n"):
        found.append(stack[-1] if stack else "")
        for character in line:
            if character in "([{":
                stack.append(character)
            elif character in ")]}" and stack:
                stack.pop()
    return found


def is_balanced(text: str) -> bool:
    depth = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if depth < 0:
            return False
    return depth == 0


def clauses(text: str, begin: int, end: int, separator: str) -> list[tuple[int, int]]:
    """The parts between separators that stand in no bracket."""
    parts, depth, since = [], 0, begin
    for place in range(begin, end):
        character = text[place]
        depth += (character in "([{") - (character in ")]}")
        if character == separator and depth == 0:
            parts.append((since, place))
            since = place + 1
    parts.append((since, end))
    return [(a + len(text[a:b]) - len(text[a:b].lstrip()), a + len(text[a:b].rstrip())) for a, b in parts if text[a:b].strip()]


def first_outside(text: str, begin: int, word: str) -> int:
    """Where the word stands first outside all brackets, or -1."""
    depth = 0
    for place in range(begin, len(text)):
        if depth == 0 and text.startswith(word, place):
            return place
        depth += (text[place] in "([{") - (text[place] in ")]}")
    return -1
