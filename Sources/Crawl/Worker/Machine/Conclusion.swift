internal import GannetQueue
internal import Results

/// How a job ends. An object, because it passes through many hands and takes much room.
final class Conclusion: Sendable {
    /// The place that a request has at a host of another partition, to which a redirect led it.
    struct Place: Sendable {
        let partition: Int
        let settlement: Settlement
    }

    let settlement: Settlement
    /// The news once Redis has settled the job; `nil` for none.
    let report: WorkerReport?
    /// The output has to note this before Redis hears of the settlement.
    let end: JobEnd?
    let place: Place?

    init(_ settlement: Settlement, _ report: WorkerReport?, noting end: JobEnd? = nil, leaving place: Place? = nil) {
        self.settlement = settlement
        self.report = report
        self.end = end
        self.place = place
    }

    var isFailure: Bool {
        guard case .failed = settlement.outcome else { return false }
        return true
    }

    /// The same failure, with the place of its exchanges.
    func keeping(_ exchanges: ExchangesPlace) -> Conclusion {
        guard case .failed(var content, let retention) = settlement.outcome else { return self }
        content.fields[.wire] = exchanges.text
        var settlement = settlement
        settlement.outcome = .failed(content, retention)
        return Conclusion(settlement, report, noting: end, leaving: place)
    }

    /// The same end of a job whose request has that place as well.
    func leaving(_ place: Place?) -> Conclusion {
        guard let place else { return self }
        return Conclusion(settlement, report, noting: end, leaving: place)
    }
}
