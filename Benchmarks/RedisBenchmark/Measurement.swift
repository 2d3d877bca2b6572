import BenchmarkKit

/// The figures of one run of some work.
struct Measurement {
    let perSecond: Double
    /// Processor time of the client alone.
    let cpuMicroseconds: Double
}

/// Prints a row of the table: the medians of both, and the median of the ratios within each round.
func compare(
    _ work: String, rounds: Int, _ ours: () async throws -> Measurement, against theirs: () async throws -> Measurement
) async throws {
    var pairs: [(Measurement, Measurement)] = []
    _ = try await ours()
    for _ in 0..<rounds { pairs.append((try await ours(), try await theirs())) }
    let cells = [
        work, rate(pairs.map(\.0.perSecond).median), microseconds(pairs.map(\.0.cpuMicroseconds).median),
        rate(pairs.map(\.1.perSecond).median), microseconds(pairs.map(\.1.cpuMicroseconds).median),
        rounded(pairs.map { $0.0.perSecond / $0.1.perSecond }.median, to: 2),
    ]
    print("| " + cells.joined(separator: " | ") + " |")
}

private func rate(_ perSecond: Double) -> String {
    perSecond < 1000 ? rounded(perSecond, to: 0) + "/s" : grouped(Int((perSecond / 100).rounded()) * 100) + "/s"
}

private func microseconds(_ value: Double) -> String {
    value < 1000 ? rounded(value, to: 1) + " µs" : rounded(value / 1000, to: 1) + " ms"
}

private func rounded(_ value: Double, to digits: Int) -> String {
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let scaled = Int((value * scale).rounded())
    if digits == 0 { return String(scaled) }
    let fraction = String(scaled % Int(scale))
    return "\(scaled / Int(scale)).\(String(repeating: "0", count: digits - fraction.count))\(fraction)"
}
