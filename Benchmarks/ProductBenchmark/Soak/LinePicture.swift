import BenchmarkKit

/// Lines over time as a plain SVG picture, one panel below the other. It fits light and dark pages.
struct LinePicture {
    struct Line {
        let name: String
        var points: [(x: Double, y: Double)]
    }

    struct Panel {
        let title: String
        let lines: [Line]
    }

    let title: String
    /// The meaning of the horizontal axis.
    let unit: String
    /// All names of lines, in the order of their colours.
    let names: [String]
    let panels: [Panel]

    private static let (width, height, left, right, top, gap) = (860.0, 230.0, 64.0, 20.0, 64.0, 58.0)
    /// More than these are not seen.
    private static let mostPoints = 240

    private static let style = """
        .w{fill:#fff;stroke:#d0d7de}.a{stroke:#d0d7de}text{font:13px system-ui,sans-serif;fill:#1f2328}.l{fill:none;stroke-width:1.6}
        .c0{stroke:#0969da}.c1{stroke:#1a7f37}.c2{stroke:#cf222e}.c3{stroke:#9a6700}.c4{stroke:#8250df}.c5{stroke:#6e7781}
        @media(prefers-color-scheme:dark){.w{fill:#0d1117;stroke:#30363d}.a{stroke:#30363d}text{fill:#e6edf3}
        .c0{stroke:#58a6ff}.c1{stroke:#3fb950}.c2{stroke:#ff7b72}.c3{stroke:#d29922}.c4{stroke:#bc8cff}.c5{stroke:#8b949e}}
        """

    var svg: String {
        let height = Self.top + Double(panels.count) * (Self.height + Self.gap)
        var out = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(Int(Self.width)) \(Int(height))\" width=\"\(Int(Self.width))\" "
                + "height=\"\(Int(height))\" role=\"img\">",
            "<title>\(Self.escaped(title))</title>", "<style>\(Self.style)</style>",
            "<rect class=\"w\" x=\".5\" y=\".5\" width=\"\(Int(Self.width) - 1)\" height=\"\(Int(height) - 1)\" rx=\"8\"/>",
        ]
        out += legend()
        for (index, panel) in panels.enumerated() { out += drawn(panel, top: Self.top + Double(index) * (Self.height + Self.gap)) }
        return (out + ["</svg>", ""]).joined(separator: "\n")
    }

    /// The names beside pieces of their lines.
    private func legend() -> [String] {
        var x = Self.left
        return names.enumerated().map { index, name in
            defer { x += 48 + 7.2 * Double(name.count) }
            return "<path class=\"l c\(index % 6)\" d=\"M\(tenths(x)) 22h22\"/>" + Self.text(x + 28, 26, name)
        }
    }

    private func drawn(_ panel: Panel, top: Double) -> [String] {
        let points = panel.lines.flatMap(\.points)
        let steps = (x: Self.step(points.map(\.x).max() ?? 0), y: Self.step(points.map(\.y).max() ?? 0))
        let end = (x: max(points.map(\.x).max() ?? 0, steps.x), y: max((points.map(\.y).max() ?? 0) * 1.05, steps.y))
        let bottom = top + Self.height
        func place(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
            (Self.left + (Self.width - Self.left - Self.right) * x / end.x, bottom - (Self.height - 24) * y / end.y)
        }
        var out = [Self.text(Self.left, top + 10, panel.title)]
        for value in stride(from: 0, through: end.y, by: steps.y) {
            let at = place(0, value)
            out.append("<path class=\"a\" d=\"M\(tenths(at.x)) \(tenths(at.y))H\(tenths(Self.width - Self.right))\"/>")
            out.append(Self.text(at.x - 8, at.y + 4, Self.number(value), anchor: "end"))
        }
        for value in stride(from: 0, through: end.x, by: steps.x) {
            out.append(Self.text(place(value, 0).x, bottom + 18, Self.number(value), anchor: "middle"))
        }
        out.append(Self.text(Self.width - Self.right, bottom + 36, unit, anchor: "end"))
        for line in panel.lines {
            let path = Self.thinned(line.points).map { point in
                let at = place(point.x, point.y)
                return "\(tenths(at.x)) \(tenths(at.y))"
            }
            let color = names.firstIndex(of: line.name) ?? 0
            out.append("<path class=\"l c\(color % 6)\" d=\"M\(path.joined(separator: "L"))\"/>")
        }
        return out
    }

    /// The median of each group of neighbours.
    private static func thinned(_ points: [(x: Double, y: Double)]) -> [(x: Double, y: Double)] {
        let size = (points.count + mostPoints - 1) / mostPoints
        guard size > 1 else { return points }
        return stride(from: 0, to: points.count, by: size).map { start in
            let group = points[start..<min(points.count, start + size)]
            return (group.map(\.x).median, group.map(\.y).median)
        }
    }

    /// A round number of which some reach the greatest value.
    private static func step(_ greatest: Double) -> Double {
        var step = 0.1
        for factor in [2, 2.5, 2].repeated(10) where greatest / step > 8 { step *= factor }
        return step
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() ? grouped(Int(value)) : tenths(value)
    }

    private static func text(_ x: Double, _ y: Double, _ words: String, anchor: String = "start") -> String {
        "<text x=\"\(tenths(x))\" y=\"\(tenths(y))\" text-anchor=\"\(anchor)\">\(escaped(words))</text>"
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    }
}

extension Array {
    fileprivate func repeated(_ count: Int) -> [Element] { (0..<count).flatMap { _ in self } }
}
