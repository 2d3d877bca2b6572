import Gannet

/// What the demonstration shows while it goes on.
struct DemoScreen: Sendable {
    private let workers: [String]
    private let jobs: Int
    /// Which worker was killed, and how long after the start.
    var killed: (number: Int, time: Duration)?
    var status: QueueStatus?
    var fetched: [Int] = []
    var site = DemoSite.Account()

    private static let barWidth = 30

    init(workers: [String], jobs: Int) {
        self.workers = workers
        self.jobs = jobs
    }

    private var ended: Int { status.map { $0.done + $0.failed } ?? 0 }

    private var asked: String {
        let again = site.askedAgain == 0 ? "no page twice" : "\(Amounts.count(site.askedAgain, "page")) twice: the killed worker's"
        return "\(site.requests) requests, \(again)"
    }

    /// For those who do not watch a terminal.
    var sentence: String { "\(ended) of \(jobs) jobs have ended; the site has had \(asked)." }

    func lines(_ style: TerminalStyle) -> [StyledText] {
        let filled = jobs > 0 ? min(Self.barWidth, ended * Self.barWidth / jobs) : 0
        let bar = String(repeating: style.filled, count: filled) + String(repeating: style.empty, count: Self.barWidth - filled)
        var lines = [
            StyledText("queue     ", .bold) + StyledText(bar, .green) + StyledText("  \(ended) of \(jobs) jobs"),
            StyledText(
                "          \(status?.ready ?? 0) ready, \(status?.active ?? 0) active, \(status?.parked ?? 0) parked behind a fetch, \(status?.delayed ?? 0) to be retried"
            ),
        ]
        for (number, name) in workers.enumerated() {
            let count = fetched.indices.contains(number) ? fetched[number] : 0
            let line = StyledText("\(name)  ", .bold) + StyledText("\(count) pages fetched")
            if let killed, killed.number == number {
                lines.append(line + StyledText("  killed with -9 after \(Amounts.time(killed.time))", .red))
            } else {
                lines.append(line)
            }
        }
        lines.append(StyledText("site      ", .bold) + StyledText(asked))
        return lines
    }
}
