import BenchmarkKit

/// The memory and descriptors of processes over a long run, and what they say.
struct SoakRecord {
    struct Sample {
        let second: Int
        /// In bytes.
        let memory: Int
        /// Nil where it has no meaning.
        let descriptors: Int?
    }

    /// The samples of a process, in the order of time.
    struct Series {
        let name: String
        /// Whether its memory has to stay as it is.
        let isBounded: Bool
        var samples: [Sample] = []
    }

    /// How much is no growth: both bounds have to be passed.
    struct Bound {
        let part: Double
        let amount: Double

        func isPassed(from first: Double, to last: Double) -> Bool { last - first > max(amount, first * part) }
    }

    static let memoryBound = Bound(part: 0.1, amount: 8_000_000)
    static let descriptorBound = Bound(part: 0.1, amount: 8)

    var series: [Series]

    /// A series in the first quarter after warming up, and in the last.
    struct Comparison {
        let name: String
        let memory: (first: Double, last: Double)
        let descriptors: (first: Double, last: Double)?
        let hasGrown: Bool
    }

    /// The second at which a run of so many is warm: caches are full, and pools of connections have reached their size.
    static func start(of seconds: Int) -> Int { seconds / 6 }

    /// The state of each process in two quarters of the time after warming up.
    func comparisons(of seconds: Int) -> [Comparison] {
        let start = Self.start(of: seconds)
        let quarter = (seconds - start) / 4
        return series.map { series in
            let first = series.samples.filter { (start..<start + quarter).contains($0.second) }
            let last = series.samples.filter { $0.second >= seconds - quarter }
            let memory = (first.map { Double($0.memory) }.median, last.map { Double($0.memory) }.median)
            let counts = (first.compactMap(\.descriptors).map(Double.init), last.compactMap(\.descriptors).map(Double.init))
            let descriptors = counts.0.isEmpty ? nil : (counts.0.median, counts.1.median)
            let hasMoreMemory = series.isBounded && Self.memoryBound.isPassed(from: memory.0, to: memory.1)
            let hasMoreDescriptors = descriptors.map { Self.descriptorBound.isPassed(from: $0.0, to: $0.1) } ?? false
            return Comparison(
                name: series.name, memory: memory, descriptors: descriptors, hasGrown: hasMoreMemory || hasMoreDescriptors)
        }
    }

    /// A line a sample.
    var csv: String {
        let lines = series.flatMap { series in
            series.samples.map { "\($0.second),\(series.name),\($0.memory),\($0.descriptors.map(String.init) ?? "")" }
        }
        return (["second,process,memory,descriptors"] + lines).joined(separator: "\n") + "\n"
    }
}
