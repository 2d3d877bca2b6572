import GannetQueue

/// The screen of the demonstration while it goes on.
struct DemoScreen: Sendable {
    private let workers: [String]
    private let jobs: Int
    /// Which worker was killed, and how long after the start.
    var killed: (number: Int, time: Duration)?
    var status: QueueCounts?
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

/// The result of the demonstration, counted by the site and by the queue.
struct DemoEnding: Sendable {
    let status: QueueCounts
    let site: DemoSite.Account
    let jobs: Int
    let time: Duration

    private var pages: Int { DemoSite.pages - DemoSite.missingPages }

    /// Each page once, but for what the killed worker had in its hands; nothing lost; nothing charged that should not be.
    var isAsPromised: Bool {
        status.fetched == pages && status.done + status.failed == jobs && site.askedAgain <= DemoWorker.concurrency
            && status.crashed <= DemoWorker.concurrency
    }

    var text: String {
        [
            "All \(jobs) jobs have ended in \(Amounts.time(time)).",
            "  \(status.fetched) pages fetched; \(status.cached) jobs whose page was there already",
            "  \(status.failed) jobs failed: \(Amounts.count(DemoSite.missingPages, "page")) that the site does not have",
            "The site was asked \(site.requests) times for \(DemoSite.pages) pages.",
            "  \(DemoSite.failingPages) failed at first and were tried again",
            "  \(site.askedAgain) were in the hands of the killed worker, and were asked for again",
            "  every other one was asked for once",
            isAsPromised ? "Nothing was lost." : "This is not what was promised: a defect of gannet; please report it.",
        ].joined(separator: "\n")
    }
}
