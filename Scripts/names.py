#!/usr/bin/env python3
"""Finds public names of the library that its pages do not explain. Scripts/docs runs it with the symbol graphs that it renders.

  Scripts/names.py PAGES GRAPHS   the folder of the pages, and the folder of the symbol graphs

A type is explained if the text of a page names it in code or in a link, and an example uses it. A member is explained by a page that also
names its type, if the page's text and one of its examples have the member's name. A link such as ``Fetcher/clear()`` names both.

An example may use a type without naming it, as in `fetcher.statistics.memory.entries`. So a type counts as used where an example has the name
of a member that leads to it, or of one of its own members.

Tables count as text. Examples are the blocks that Scripts/examples compiles. Each missing name is a line, and the end status is then 1.
"""

import json
import pathlib
import re
import sys

# Names that a protocol of the standard library gives. Their meaning is the protocol's.
GIVEN = {
    "description", "errorDescription", "debugDescription", "customMirror", "hashValue", "hash(into:)", "init(rawValue:)", "init(dictionaryLiteral:)",
    "makeAsyncIterator()", "next()", "next(isolation:)", "AsyncIterator", "Element", "Failure", "subscript(dynamicMember:)",
}  # fmt: skip

TYPES = ("swift.class", "swift.struct", "swift.enum", "swift.protocol")


class Name:
    """A public name: of a type, or of a type's member."""

    def __init__(self, symbol):
        path = symbol["pathComponents"]
        self.is_type = symbol["kind"]["identifier"] in TYPES
        self.path = "/".join(path)
        self.last = path[-1]
        self.type = path[-1] if self.is_type else path[-2]
        self.identifier = symbol["identifier"]["precise"]
        # An initializer and a subscript have no name of their own, so they count as their type's.
        base = path[-1].split("(")[0]
        self.base = self.type if base in ("init", "subscript") else base
        # The types that the declaration mentions, besides the member's own.
        self.mentions = {part["preciseIdentifier"] for part in symbol.get("declarationFragments", []) if "preciseIdentifier" in part}


def names(graphs):
    """All names in the graphs that a page has to explain."""
    for graph in sorted(pathlib.Path(graphs).glob("*.symbols.json")):
        for symbol in json.loads(graph.read_text())["symbols"]:
            is_synthesized = "::SYNTHESIZED::" in symbol["identifier"]["precise"]
            is_operator = symbol["kind"]["identifier"] == "swift.func.op"
            if not is_synthesized and not is_operator and symbol["pathComponents"][-1] not in GIVEN:
                yield Name(symbol)


class Page:
    """The words that a page's text has in code, and the words of its examples."""

    def __init__(self, path):
        text = path.read_text()
        # The list of topics at the end of a page repeats names and explains none.
        text = text.split("\n## Topics", 1)[0]
        self.examples, prose, block, is_left_out = set(), [], None, False
        for line in text.split("\n"):
            if block is not None:
                if line == "```":
                    if not is_left_out:
                        self.examples |= set(re.findall(r"\w+", "\n".join(block)))
                    block, is_left_out = None, False
                else:
                    block.append(line)
            elif line.startswith("```"):
                block, is_left_out = [], is_left_out or line != "```swift"
            else:
                is_left_out = line.startswith("<!-- not compiled here: ") or (is_left_out and not line.strip())
                prose.append(line)
        code = re.findall(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", "\n".join(prose), flags=re.DOTALL)
        self.prose = {word for _, piece in code for word in re.findall(r"\w+", piece)}


def main(pages, graphs):
    pages = [Page(path) for path in sorted(pathlib.Path(pages).glob("*.md"))]
    public = list(names(graphs))
    if not pages or not public:
        sys.exit("names: there are no pages, or no symbol graphs")
    missing = 0
    for name in public:
        if name.is_type:
            words = {name.base}
            words |= {other.base for other in public if not other.is_type and name.identifier in other.mentions}
            words |= {other.base for other in public if not other.is_type and other.type == name.type}
            in_prose = any(name.base in page.prose for page in pages)
            in_example = any(name.base in page.prose and words & page.examples for page in pages)
        else:
            there = [page for page in pages if name.type in page.prose]
            in_prose = any(name.base in page.prose for page in there)
            used = {name.base} | ({"init"} if name.base == name.type else set())
            in_example = any(used & page.examples for page in there if name.base in page.prose)
            # An initializer is used under its type's name, and a subscript without any.
            if name.last.startswith("subscript"):
                in_example = in_prose
        if not in_prose or not in_example:
            where = " and ".join([place for place, is_there in [("the text", in_prose), ("an example", in_example)] if not is_there])
            print(f"names: {name.path} is missing in {where}", file=sys.stderr)
            missing += 1
    print(f"names: {len(public)} public names, {missing} missing", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2]))
