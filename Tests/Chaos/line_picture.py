"""Lines over time as a plain SVG picture, one panel below the other. It fits light and dark pages."""

import html
import statistics

WIDTH, HEIGHT, LEFT, RIGHT, TOP, GAP = 860, 230, 64, 20, 64, 58
# More points of a line than these are not seen.
MOST = 240

STYLE = """
.w{fill:#fff;stroke:#d0d7de}.a{stroke:#d0d7de}.m{stroke:#6e7781}text{font:13px system-ui,sans-serif;fill:#1f2328}.l{fill:none;stroke-width:1.6}
.c0{stroke:#0969da}.c1{stroke:#1a7f37}.c2{stroke:#cf222e}.c3{stroke:#9a6700}.c4{stroke:#8250df}.c5{stroke:#6e7781}
@media(prefers-color-scheme:dark){.w{fill:#0d1117;stroke:#30363d}.a{stroke:#30363d}.m{stroke:#8b949e}text{fill:#e6edf3}
.c0{stroke:#58a6ff}.c1{stroke:#3fb950}.c2{stroke:#ff7b72}.c3{stroke:#d29922}.c4{stroke:#bc8cff}.c5{stroke:#8b949e}}
"""


def picture(title, unit, names, panels, marks):
    """`panels` are pairs of a title and lines, which are points by name. `marks` are moments, shown as ticks at the bottom of each panel."""
    height = TOP + len(panels) * (HEIGHT + GAP)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">',
        f"<title>{html.escape(title)}</title>",
        f"<style>{STYLE.strip()}</style>",
        f'<rect class="w" x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>',
    ]
    x = LEFT
    for number, name in enumerate(names):
        out.append(f'<path class="l c{number % 6}" d="M{x:.1f} 22h22"/>' + text(x + 28, 26, name))
        x += 48 + 7.2 * len(name)
    for number, (heading, lines) in enumerate(panels):
        out += panel(TOP + number * (HEIGHT + GAP), heading, unit, names, lines, marks)
    return "\n".join([*out, "</svg>", ""])


def panel(top, heading, unit, names, lines, marks):
    points = [point for line in lines.values() for point in line]
    most = [max((point[axis] for point in points), default=0) for axis in (0, 1)]
    steps = [step(each) for each in most]
    end_x, end_y = max(most[0], steps[0]), max(most[1] * 1.05, steps[1])
    bottom = top + HEIGHT

    def place(x, y):
        return LEFT + (WIDTH - LEFT - RIGHT) * x / end_x, bottom - (HEIGHT - 24) * y / end_y

    out = [text(LEFT, top + 10, heading)]
    for value in upwards(steps[1], end_y):
        y = place(0, value)[1]
        out += [f'<path class="a" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>', text(LEFT - 8, y + 4, number_of(value), "end")]
    for value in upwards(steps[0], end_x):
        out.append(text(place(value, 0)[0], bottom + 18, number_of(value), "middle"))
    out.append(text(WIDTH - RIGHT, bottom + 36, unit, "end"))
    if marks:
        out.append(f'<path class="m" d="{"".join(f"M{place(mark, 0)[0]:.1f} {bottom}v-6" for mark in marks if mark <= end_x)}"/>')
    for name, line in lines.items():
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in (place(*point) for point in thinned(line)))
        out.append(f'<path class="l c{names.index(name) % 6}" d="M{path}"/>')
    return out


def thinned(points):
    """The median of each group of neighbours."""
    size = max(1, -(-len(points) // MOST))
    groups = [points[at : at + size] for at in range(0, len(points), size)]
    return [tuple(statistics.median(point[axis] for point in group) for axis in (0, 1)) for group in groups]


def step(most):
    """A round number of which some reach the greatest value."""
    value = 0.1
    for factor in [2, 2.5, 2] * 10:
        if most / value > 8:
            value *= factor
    return value


def upwards(by, end):
    return [number * by for number in range(int(end / by + 1e-9) + 1)]


def number_of(value):
    return f"{value:,.0f}" if abs(value - round(value)) < 1e-9 else f"{value:.1f}"


def text(x, y, words, anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(words)}</text>'
