import Glibc

/// What one run of some work took.
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
        work, rate(median(pairs.map(\.0.perSecond))), microseconds(median(pairs.map(\.0.cpuMicroseconds))),
        rate(median(pairs.map(\.1.perSecond))), microseconds(median(pairs.map(\.1.cpuMicroseconds))),
        rounded(median(pairs.map { $0.0.perSecond / $0.1.perSecond }), to: 2),
    ]
    print("| " + cells.joined(separator: " | ") + " |")
}

/// Processor time used by this process, or by its children that have ended.
func cpuTime(ofChildren: Bool = false) -> Duration {
    var usage = rusage()
    getrusage(ofChildren ? -1 : 0, &usage)
    return .seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + .microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
}

private func median(_ values: [Double]) -> Double {
    values.sorted()[values.count / 2]
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

private func grouped(_ number: Int) -> String {
    let text = String(number)
    var groups: [Substring] = []
    var end = text.endIndex
    while end > text.startIndex {
        let start = text.index(end, offsetBy: -3, limitedBy: text.startIndex) ?? text.startIndex
        groups.insert(text[start..<end], at: 0)
        end = start
    }
    return groups.joined(separator: ",")
}
