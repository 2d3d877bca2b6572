import ClusterState
import CommandLineKit
import Gannet
import GannetBasics

/// `gannet jobs list`: jobs that have not ended, or have failed.
enum JobsListCommand: Command {
    private static let limit = Flag("limit", .integer(in: 1...100_000), default: "50", "How many to show at most.")
    private static let cursor = Flag("cursor", .text("cursor"), "Show the page after the one that ended with this cursor.")
    private static let all = Toggle("all", "Show all of them, page by page.")

    static let spec = CommandSpec(
        "list",
        summary: "List jobs that are active, ready, delayed, parked or dead.",
        discussion:
            "Without '--state' some jobs of each state are shown. With '--json' each line is a page with a cursor for the next one.",
        flags: [JobFlags.state.entry] + JobFlags.selecting
            + [limit.entry, cursor.entry, all.entry, CommonFlags.json.entry] + QueueTarget.flags)

    static func options(from arguments: Arguments) throws(UsageError) -> JobsListOptions {
        let hasState = try arguments.optional(JobFlags.state) != nil
        let hasClass = arguments.origin(of: JobFlags.errorClass.entry) != nil
        // Only dead jobs have a class.
        let query = try JobFlags.query(from: arguments, JobFlags.state, usual: hasClass ? .dead : .active)
        let cursor = try arguments.optional(cursor)
        if cursor != nil, !hasState { throw arguments.usageError("'--cursor' needs the '--state' of its page.") }
        var queries = [query]
        if !hasState, !hasClass {
            queries = [JobState.active, .ready, .delayed, .parked, .dead].map { JobSelection($0, JobFilter(host: query.filter.host)) }
        }
        return JobsListOptions(
            queries: queries, limit: try arguments.require(limit), cursor: cursor, all: arguments.isSet(all),
            json: arguments.isSet(CommonFlags.json), target: try QueueTarget(arguments))
    }

    static func run(_ options: JobsListOptions) async throws(CommandFailure) -> ExitStatus {
        try await options.target.withCluster { (cluster) throws(CommandFailure) in
            var printer = JobsPrinter(options)
            for query in options.queries { try await list(query, options, cluster.queue(options.target.queue), &printer) }
            printer.finish()
            return .done
        }
    }

    private static func list(
        _ query: JobSelection, _ options: JobsListOptions, _ queue: FetchQueue, _ printer: inout JobsPrinter
    ) async throws(CommandFailure) {
        var cursor = options.cursor.map(JobCursor.init) ?? JobCursor()
        repeat {
            guard let from = cursor else { throw CommandFailure(.wrongUsage, "This is no cursor of an earlier listing.") }
            let page = try await CommandFailure.wrapping { try await queue.jobs(query, from: from, limit: options.limit) }
            try printer.print(page, of: query)
            cursor = page.next
        } while options.all && cursor != nil
    }
}

/// The arguments of `gannet jobs list`.
struct JobsListOptions: Sendable {
    /// One for each state.
    var queries: [JobSelection]
    var limit: Int
    var cursor: String?
    var all: Bool
    var json: Bool
    var target: QueueTarget
}

/// Prints pages of jobs: a table each, or a line of JSON each.
private struct JobsPrinter {
    private let options: JobsListOptions
    private let console: Console
    private var printed = 0
    private var isMore = false

    init(_ options: JobsListOptions) {
        self.options = options
        console = options.target.console
    }

    mutating func print(_ page: JobListing, of query: JobSelection) throws(CommandFailure) {
        if options.json {
            let json: JSONValue = [
                "schema": 1, "queue": .string(options.target.queue), "state": .string(query.state.rawValue),
                "jobs": .array(page.jobs.map { JobReport(job: $0, now: page.now).json }),
                "cursor": JSONValue(page.next?.text),
            ]
            try console.print(json.text)
            return
        }
        if !page.jobs.isEmpty {
            // Its width is its own: what follows is not known yet.
            var table = TextTable("STATE", "WHEN", "ATTEMPTS", "URL", "REASON")
            for job in page.jobs {
                let report = JobReport(job: job, now: page.now)
                table.add(
                    job.state.rawValue, report.when, report.attempts, report.url.withoutSteering,
                    (report.errorMessage ?? report.errorClass ?? "").withoutSteering)
            }
            try console.print(table.text)
        }
        printed += page.jobs.count
        guard let cursor = page.next?.text, !options.all else { return }
        isMore = true
        let state = query.state.rawValue
        console.note("there are more \(state) jobs: '--state \(state) --cursor \(cursor)' shows the next, '--all' all.")
    }

    func finish() {
        if !options.json, printed == 0, !isMore { console.note("there are no such jobs in the queue '\(options.target.queue)'.") }
    }
}
