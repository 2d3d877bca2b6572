"""All faults that can be planted in a file. Each changes one line."""

import dataclasses
import re

from source_text import clauses, first_outside, is_balanced, masked, open_brackets

# How many of a hundred faults are of each kind, where a room has places for them.
KINDS = {
    "comparison": 22,
    "arithmetic": 12,
    "off by one": 10,
    "boolean": 22,
    "missing call": 17,
    "min and max": 6,
    "constant answer": 6,
    "missing defer": 5,
}

# Blanks stand around an operator, as `swift format` writes it. So `<` of generics, a minus sign and `->` are none.
COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "===": "!==", "!==": "==="}
COMPARISON = re.compile(r"(?<=\S )(<=?|>=?|[=!]==?|~=)(?= \S)")
SIGNS = {"+": "-", "-": "+", "+=": "-=", "-=": "+=", "&+": "&-", "&-": "&+", "&+=": "&-=", "&-=": "&+="}
SIGN = re.compile(r"(?<=\S )(&?[+-]=?)(?= \S)")
RANGES = {"..<": "...", "...": "..<"}
RANGE = re.compile(r"(?<=[\w)\]])(\.\.<|\.\.\.)(?=[\w(])")
# Neither a part of a name, `$0`, the place in a tuple, nor a number with a fraction.
NUMBER = re.compile(r"(?<![\w$])(?<!(?<!\.)\.)(\d{1,3})(?!\w|\.\d)")
AND_OR = {"&&": "||", "||": "&&", "and": "or", "or": "and"}
SWIFT_AND_OR = re.compile(r"(?<=\S )(&&|\|\|)(?= \S)")
LUA_AND_OR = re.compile(r"(?<=\S )(and|or)(?= \S)")
TRUTH = re.compile(r"(?<![\w.])(true|false)(?!\w)")
SMALLEST = re.compile(r"(?<![\w#])(min|max)(?=\()")

SWIFT_CONDITION = re.compile(r"(?:^|(?<=\s))(if|guard|while) (?=\S)")
LUA_CONDITION = re.compile(r"(?:^|(?<=\s))((?:else)?if|while|until) (?=\S)")
# Clauses that bind names, or ask the compiler.
BINDING = re.compile(r"(?:let|var|case)\b|#")
# One more parameter, or a whole declaration, is no statement.
DECLARATION = re.compile(r"\s*(?:@\w+ |(?:package|public|private|fileprivate|static|override|mutating|nonisolated|final|indirect)\b ?)*"
                         r"(?:func|init|subscript|extension|protocol|struct|class|actor|enum|typealias|import|operator|infix|precedencegroup)\b")

SWIFT_CALL = re.compile(r"(?:try[?!]? )?(?:await )?(?P<name>[A-Za-z_][\w.?!]*(?:\[[^\[\]]*\][\w.?!]*)*)\(.*\)")
LUA_CALL = re.compile(r"(?P<name>[A-Za-z_][\w.:]*)\(.*\)")
# Words before a bracket that call nothing; calls that have to be there for the compiler; logs; and traps that no test runs into.
NO_CALL = re.compile(
    r"(?:if|guard|while|for|switch|return|throw|case|let|var|in|function|and|or|not)\b|(?:self|super)\.init\b|init\b|required\b"
    r"|(?:precondition|assert)\w*\b|fatalError\b|print\b|.*\b(?:log|logger|console)\.|redis\.log\b|error\b"
)
# A line behind these goes on with the expression, and a line before those does.
GOES_ON = re.compile(r"(?:[=+\-*/&|?(\[,.<>!]|\b(?:return|in|else|await|try|and|or|not))$")
CONTINUES = re.compile(r"[.?:&|+\-*/=<>]|and\b|or\b|\.\.")
ANSWERS = re.compile(r"->|(?:var|get|subscript)\b.*\{$")

BOOLEAN = re.compile(r"(?=.*\b(?:func|var)\b).*?(?:->|:) Bool \{(?= |$)")
ACCESSOR = re.compile(r"(?:get|set|willSet|didSet|_read|_modify|nonmutating|mutating)\b")
LUA_BOOLEAN = re.compile(r"\s*(?:local )?function (?:\w+[.:])?(?:is|has|can|may|does)[A-Z]\w*\([^()]*\)(?= |$)")


@dataclasses.dataclass(frozen=True)
class Fault:
    file: str
    line: int
    column: int
    kind: str
    before: str
    after: str
    # The whole line, without and with the fault.
    old: str
    new: str

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def change(self) -> str:
        return f"{' '.join(self.before.split()) or '(nothing)'} -> {' '.join(self.after.split()) or '(nothing)'}"


class Finder:
    """Goes through the lines of a file, and notes each fault that one of them may have."""

    def __init__(self, file: str, text: str):
        self.file, self.is_lua = file, file.endswith(".lua")
        code = masked(text, self.is_lua)
        self.lines, self.code, self.inside = text.split("\n"), code.split("\n"), open_brackets(code)
        self.found: list[Fault] = []

    def faults(self) -> list[Fault]:
        for number, code in enumerate(self.code):
            if code.strip() and not code.lstrip().startswith(("@", "#", "import ", "internal import", "package import", "public import")):
                self.look(number, code)
        return self.found

    def note(self, number: int, begin: int, end: int, kind: str, after: str) -> None:
        old = self.lines[number]
        new = old[:begin] + after + old[end:]
        self.found.append(Fault(self.file, number + 1, begin + 1, kind, old[begin:end], after.strip(), old, new.rstrip()))

    def look(self, number: int, code: str) -> None:
        is_declaration = not self.is_lua and DECLARATION.match(code) is not None
        if not is_declaration:
            self.comparisons(number, code)
            self.arithmetic(number, code)
            self.booleans(number, code)
            for word in SMALLEST.finditer(code):
                self.note(number, *word.span(), "min and max", {"min": "max", "max": "min"}[word[0]])
            self.calls(number, code)
        elif "{" in code:
            # A body on the same line is looked at as well, the parameters' defaults are not.
            self.body(number, code)
        self.constants(number, code)
        if not self.is_lua:
            for word in re.finditer(r"(?:^|(?<=\s))defer(?= \{)", code):
                self.note(number, *word.span(), "missing defer", "if false")

    def body(self, number: int, code: str) -> None:
        begin = first_outside(code, 0, "{")
        if begin >= 0 and " where " not in code[:begin] + " " and re.search(r"\b(?:func|init|subscript)\b", code[:begin]):
            rest = " " * (begin + 1) + code[begin + 1 :]
            self.comparisons(number, rest)
            self.arithmetic(number, rest)
            self.booleans(number, rest)

    def comparisons(self, number: int, code: str) -> None:
        swaps = COMPARISONS | ({"==": "~=", "~=": "=="} if self.is_lua else {})
        for sign in COMPARISON.finditer(code):
            if sign[0] in swaps:
                self.note(number, *sign.span(), "comparison", swaps[sign[0]])

    def arithmetic(self, number: int, code: str) -> None:
        for sign in SIGN.finditer(code):
            # Texts and lists are joined, and cannot be subtracted.
            if code[sign.start() - 2] not in '"]' and code[sign.end() + 1] not in '"[':
                self.note(number, *sign.span(), "arithmetic", SIGNS[sign[0]])
        for index, digits in enumerate(NUMBER.finditer(code)):
            if digits[0].startswith("0") and len(digits[0]) > 1:
                continue
            value = int(digits[0])
            # A zero less one is no value of most types.
            self.note(number, *digits.span(), "off by one", str(value + 1 if value == 0 or (number + index) % 2 else value - 1))
        if not self.is_lua:
            for range_ in RANGE.finditer(code):
                self.note(number, *range_.span(), "off by one", RANGES[range_[0]])

    def booleans(self, number: int, code: str) -> None:
        for word in (LUA_AND_OR if self.is_lua else SWIFT_AND_OR).finditer(code):
            self.note(number, *word.span(), "boolean", AND_OR[word[0]])
        for word in TRUTH.finditer(code):
            self.note(number, *word.span(), "boolean", "false" if word[0] == "true" else "true")
        for word in (LUA_CONDITION if self.is_lua else SWIFT_CONDITION).finditer(code):
            self.conditions(number, code, word[1], word.end())

    def conditions(self, number: int, code: str, word: str, begin: int) -> None:
        """A condition, or each part of it that binds no name, becomes its contrary."""
        if self.is_lua:
            close = {"while": " do", "until": ""}.get(word, " then")
        else:
            close = " else {" if word == "guard" else " {"
        end = first_outside(code, begin, close) if close else len(code.rstrip())
        if end < 0 or not is_balanced(code[begin:end]):
            return
        for first, last in [(begin, end)] if self.is_lua else clauses(code, begin, end, ","):
            clause = self.lines[number][first:last]
            if not BINDING.match(code[first:last]):
                self.note(number, first, last, "boolean", f"not ({clause})" if self.is_lua else f"!({clause})")

    def calls(self, number: int, code: str) -> None:
        """A statement that is a call, on a line of its own or alone in the body of an `if`."""
        begin, end = len(code) - len(code.lstrip()), len(code.rstrip())
        if self.is_call(code[begin:end]) and self.is_statement(number):
            self.note(number, begin, end, "missing call", "do end" if self.is_lua else "do {}")
            return
        pattern = r"(?<= then )(.*)(?= end$)" if self.is_lua else r"^\s*(?:\} else |else )?(?:if|for|guard)\b.*? \{ ([^{}]*)(?= \}$)"
        for body in re.finditer(pattern, code[:end]):
            if self.is_call(body[1]):
                self.note(number, *body.span(1), "missing call", "")

    def is_call(self, code: str) -> bool:
        call = (LUA_CALL if self.is_lua else SWIFT_CALL).fullmatch(code)
        if not call or NO_CALL.match(call["name"]) or not is_balanced(code):
            return False
        # `a(b) == c(d)` is no call.
        return all(" " not in code[a:b] for a, b in outside_brackets(code, call.start("name")))

    def is_statement(self, number: int) -> bool:
        if self.inside[number] not in (("", "{") if self.is_lua else ("{",)):
            return False
        before = next((line.strip() for line in reversed(self.code[:number]) if line.strip()), "")
        after = next((line.strip() for line in self.code[number + 1 :] if line.strip()), "")
        if GOES_ON.search(before) and not (self.is_lua and before.endswith("else")):
            return False
        # The only expression of a function or a property may be its answer.
        is_answer = not self.is_lua and after == "}" and before.endswith("{") and ANSWERS.search(before)
        return not CONTINUES.match(after) and not is_answer

    def constants(self, number: int, code: str) -> None:
        """A function that says whether something is so says always the same."""
        if self.is_lua:
            head = LUA_BOOLEAN.match(code)
            if head:
                value = "false" if number % 2 else "true"
                self.note(number, head.end(), head.end(), "constant answer", f" do return {value} end")
            return
        head = BOOLEAN.match(code)
        after = next((line.strip() for line in self.code[number + 1 :] if line.strip()), "")
        if not head:
            return
        rest = code[head.end() :]
        value = "false" if number % 2 else "true"
        if rest.strip() and rest.rstrip().endswith("}"):
            end = len(code.rstrip()) - 1
            inner = code[head.end() : end].strip()
            if inner and not ACCESSOR.match(inner) and inner not in ("true", "false"):
                self.note(number, head.end(), end, "constant answer", f" {value} ")
        elif not rest.strip() and not ACCESSOR.match(after):
            self.note(number, head.end(), head.end(), "constant answer", f" return {value}")


def outside_brackets(code: str, begin: int) -> list[tuple[int, int]]:
    """The stretches of a text that stand in no bracket."""
    parts, depth, since = [], 0, begin
    for place in range(begin, len(code)):
        if code[place] in "([{":
            if depth == 0:
                parts.append((since, place))
            depth += 1
        elif code[place] in ")]}":
            depth -= 1
            since = place + 1
    return parts + [(since, len(code))]


def code_lines(text: str, is_lua: bool) -> int:
    return sum(1 for line in masked(text, is_lua).split("\n") if line.strip())
