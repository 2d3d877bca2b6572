"""Faults that can be switched on in a program that is built already: one build then has many of them.

Each part of such a file that a fault changes asks for the number of the fault that is on. The number stands in a file, which each process
reads once. So the program that the tests start has the fault too. A fault that cannot be written so is built by itself, as is one
that the compiler refuses in this form, and one in Lua, which takes little to build.
"""

import dataclasses
import pathlib

from faults import COMPARISONS, RANGES, SIGNS, Fault

# Letters of an operator's name that mean 0 and 1: digits are none.
DIGITS = str.maketrans("01", "‣•")
NUMBER = "plantedFault"


@dataclasses.dataclass(frozen=True)
class Switch:
    """A line with both the right code and the fault, and what it needs at the end of the file."""

    line: str
    declarations: str = ""


def with_switches(text: str, file: pathlib.Path, switches: dict[Fault, Switch]) -> str:
    """A file with faults, of which each is on while its number stands in `file`."""
    if not switches:
        return text
    lines = text.split("\n")
    for fault, one in switches.items():
        lines[fault.line - 1] = one.line
    # In the order of their lines, so that the same faults make the same text.
    ends = [switches[fault].declarations for fault in sorted(switches, key=lambda fault: (fault.line, fault.column))]
    return "\n".join(lines) + "".join([reader(file), *ends])


def reader(file: pathlib.Path) -> str:
    """Reads the number of the fault that is on."""
    return f"""
internal import Glibc
fileprivate let {NUMBER}: Int = {{
    guard let file = fopen("{file}", "r") else {{ return 0 }}
    defer {{ fclose(file) }}
    var number = 0
    while case let digit = fgetc(file), digit >= 48, digit <= 57 {{ number = number * 10 + Int(digit - 48) }}
    return number
}}()
"""


def switch(fault: Fault, number: int) -> Switch | None:
    """`None` where the fault has to be built by itself."""
    if fault.file.endswith(".lua"):
        return None
    begin = fault.column - 1
    end = begin + len(fault.before)
    is_on, is_off = f"{NUMBER} == {number}", f"{NUMBER} != {number}"

    def line(text: str) -> str:
        return fault.old[:begin] + text + fault.old[end:]

    sign, other = fault.before, fault.after
    if sign in COMPARISONS or sign in SIGNS or sign in RANGES or sign in ("&&", "||"):
        if sign in ("&&", "||") and fault.old.count(" && ") + fault.old.count(" || ") > 1:
            # The other operator binds otherwise.
            return None
        name = sign + format(number, "b").translate(DIGITS)
        return Switch(line(name), operator(name, sign, other, is_on))
    match fault.kind:
        case "boolean" if sign in ("true", "false"):
            return Switch(line(f"({is_on if sign == 'false' else is_off})"))
        case "boolean":
            return Switch(line(f"({sign}) != ({is_on})"))
        case "off by one":
            return Switch(line(f"({is_on} ? {other} : {sign})"))
        case "min and max":
            body = f"let all = [one, other] + rest\n    return ({is_on} ? all.{other}() : all.{sign}())!"
            name = f"planted{number}"
            return Switch(
                line(name), f"fileprivate func {name}<T: Comparable>(_ one: T, _ other: T, _ rest: T...) -> T {{\n    {body}\n}}\n")
        case "missing call":
            return Switch(line(f"if {is_off} {{ {sign} }}"))
        case "constant answer" if sign.strip() and ";" not in sign:
            expression = sign.strip().removeprefix("return ")
            return Switch(line(f" if {is_on} {{ return {other} }}; return {expression} "))
    return None


def operator(name: str, sign: str, other: str, is_on: str) -> str:
    """The declaration of an operator that means `sign`, or `other` while the fault is on."""

    def function(generics: str, left: str, right: str, answer: str, where: str = "") -> str:
        both = f"{is_on} ? one {other} another : one {sign} another"
        return f"fileprivate func {name} {generics}(one: {left}, another: {right}) -> {answer}{where} {{ {both} }}\n"

    if sign in ("===", "!=="):
        group, functions = "Comparison", function("", "AnyObject?", "AnyObject?", "Bool")
    elif sign in ("==", "!="):
        group = "Comparison"
        functions = function("<T: Equatable>", "T", "T", "Bool") + function("<T>", "T?", "_OptionalNilComparisonType", "Bool")
    elif sign in COMPARISONS:
        group, functions = "Comparison", function("<T: Comparable>", "T", "T", "Bool")
    elif sign in SIGNS:
        numbers = "FixedWidthInteger" if sign.startswith("&") else "AdditiveArithmetic"
        if sign.endswith("="):
            group = "Assignment"
            functions = f"fileprivate func {name} <T: {numbers}>(one: inout T, another: T) {{ if {is_on} {{ one {other} another }} else {{ one {sign} another }} }}\n"
        else:
            group, functions = "Addition", function(f"<T: {numbers}>", "T", "T", "T")
            if sign == "+":
                ends = f"one.advanced(by: {is_on} ? .zero - another : another)"
                functions += f"fileprivate func {name} <T: InstantProtocol>(one: T, another: T.Duration) -> T {{ {ends} }}\n"
    elif sign in RANGES:
        group = "RangeFormation"
        closed, open_ = "Range(one...another)", "one..<another"
        ways = f"{is_on} ? {closed} : {open_}" if sign == "..<" else f"{is_on} ? {open_} : {closed}"
        functions = f"fileprivate func {name} <T: Strideable>(one: T, another: T) -> Range<T> where T.Stride: SignedInteger {{ {ways} }}\n"
    else:
        group = "LogicalConjunction" if sign == "&&" else "LogicalDisjunction"
        functions = (
            f"fileprivate func {name} (one: Bool, another: @autoclosure () throws -> Bool) rethrows -> Bool {{\n"
            f"    if {is_on} {{ return try one {other} another() }}\n    return try one {sign} another()\n}}\n"
        )
    return f"infix operator {name} : {group}Precedence\n{functions}"
