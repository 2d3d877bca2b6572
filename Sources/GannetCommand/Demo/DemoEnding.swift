import Gannet

/// What came of the demonstration, counted by the site and by the queue.
struct DemoEnding: Sendable {
    let status: QueueStatus
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
            "  \(status.fetched) pages fetched; \(status.cached) jobs answered by another's fetch",
            "  \(status.failed) jobs failed: \(Amounts.count(DemoSite.missingPages, "page")) that the site does not have",
            "The site was asked \(site.requests) times for \(DemoSite.pages) pages.",
            "  \(DemoSite.failingPages) failed at first and were tried again",
            "  \(site.askedAgain) were in the hands of the killed worker, and were asked for again",
            "  every other one was asked for once",
            isAsPromised ? "Nothing was lost." : "This is not what was promised: a defect of gannet; please report it.",
        ].joined(separator: "\n")
    }
}
