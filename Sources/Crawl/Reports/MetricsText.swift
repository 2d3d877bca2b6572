/// A page of metrics in the text format that Prometheus reads, version 0.0.4.
package struct MetricsText: Sendable {
    package enum Kind: String, Sendable {
        case counter, gauge, histogram
    }

    package typealias Labels = [(name: String, value: String)]

    package private(set) var text = ""

    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    package init() {}

    /// A metric with one value; nothing for one that is not known.
    package mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: Double?, _ labels: Labels = []) {
        guard let value else { return }
        begin(name, kind, help)
        sample(name, labels, value)
    }

    package mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: Int?, _ labels: Labels = []) {
        add(name, kind, help, value.map(Double.init), labels)
    }

    package mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: Bool?, _ labels: Labels = []) {
        add(name, kind, help, value.map { $0 ? 1.0 : 0 }, labels)
    }

    /// A metric with a value for each of some labels.
    package mutating func add(_ name: String, _ kind: Kind, _ help: String, _ samples: [(labels: Labels, value: Int)]) {
        if samples.isEmpty { return }
        begin(name, kind, help)
        for (labels, value) in samples { sample(name, labels, Double(value)) }
    }

    package mutating func add(_ name: String, _ help: String, _ histograms: [(labels: Labels, histogram: Histogram)]) {
        begin(name, .histogram, help)
        for (labels, histogram) in histograms {
            var total = 0
            for (bound, count) in zip(histogram.bounds, histogram.counts) {
                total += count
                sample(name + "_bucket", labels + [("le", Self.number(bound / .seconds(1)))], Double(total))
            }
            total += histogram.counts.last ?? 0
            sample(name + "_bucket", labels + [("le", "+Inf")], Double(total))
            sample(name + "_sum", labels, histogram.sum / .seconds(1))
            sample(name + "_count", labels, Double(total))
        }
    }

    private mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    private mutating func sample(_ name: String, _ labels: Labels, _ value: Double) {
        let parts = labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }
        text += name + (parts.isEmpty ? "" : "{\(parts.joined(separator: ","))}") + " \(Self.number(value))\n"
    }

    /// Whole numbers as such.
    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? String(Int(value)) : String(value)
    }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
