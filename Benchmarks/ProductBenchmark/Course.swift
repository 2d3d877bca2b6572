import BenchmarkKit
import GannetTestKit

/// A row of the tables: a kind of work, and the figures of each round.
struct Course {
    struct Round {
        let gannet: Product.Run
        /// Nil where curl cannot have as many in flight.
        let curl: (seconds: Double, cpuTime: Duration)?
        /// Redis' processor time in the bare queue.
        let queue: Duration
        /// Redis' processor time for as many bodies.
        let bodies: Duration
    }

    let name: String
    let workers: Product.Workers
    let count: Int
    /// The most URLs a second that the origin's latency leaves.
    var possible: Double?
    var rounds: [Round] = []

    init(_ name: String, _ workers: Product.Workers, _ count: Int) {
        self.name = name
        self.workers = workers
        self.count = count
    }

    /// The median over the rounds of a figure for one URL.
    func each(_ figure: (Round) -> Double) -> Double { rounds.map { figure($0) / Double(count) }.median }

    /// The median of URLs a second.
    func perSecond(_ seconds: (Round) -> Double) -> Double { rounds.map { Double(count) / seconds($0) }.median }

    /// The median of a figure that all rounds have.
    func median(_ figure: (Round) -> Double) -> Double { rounds.map(figure).median }

    /// URLs a second by curl, with the spread.
    var curlRates: String {
        let rounds = rounds.compactMap { round in round.curl.map { Double(count) / $0.seconds } }
        return rounds.isEmpty ? "–" : rates(rounds)
    }

    /// The median of a figure of curl's.
    func curl(_ figure: ((seconds: Double, cpuTime: Duration), Round) -> Double) -> Double? {
        let figures = rounds.compactMap { round in round.curl.map { figure($0, round) } }
        return figures.isEmpty ? nil : figures.median
    }
}

extension Duration {
    var microseconds: Double { self / .microseconds(1) }
}
