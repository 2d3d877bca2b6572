import CommandLineKit
import Gannet

/// What can be asked for with what is enqueued.
enum SubmissionFlags {
    private static let longest = Duration.seconds(365 * 86_400)

    static let batch = Flag(
        "batch", .batchName, "A name for what is enqueued. The same command again after an interruption goes on where it stopped.")
    private static let priority = Flag(
        "priority", .choice("priority", of: SubmissionOptions.Priority.allCases.map(\.rawValue)), default: "normal",
        "Of ten jobs six are of high, three of normal and one of low priority while there are some of each.")
    private static let delay = Flag("delay", .duration(in: .zero...longest), "Nobody fetches the URLs before this time has passed.")
    private static let maxAge = Flag(
        "max-age", .duration(in: .zero...longest), "How old an outcome may be that is there already. Without it, as long as it is fresh.")
    private static let refresh = Toggle("refresh", "Only a fetch that begins after now will do.")

    private static let traceparent = Flag(
        "traceparent", .traceParent,
        "The trace that this is a part of, as W3C Trace Context writes it; a batch that is gone on with keeps its first. Workers send it with "
            + "'--send-traceparent'. It makes no other request of a URL.")

    static let flags = [
        batch.entry, priority.entry, delay.entry, maxAge.entry, refresh.entry, HeaderOption.header.entry, traceparent.entry,
    ]

    static func options(from arguments: Arguments) throws(UsageError) -> SubmissionOptions {
        var options = SubmissionOptions()
        options.priority = SubmissionOptions.Priority(rawValue: try arguments.require(priority)) ?? .normal
        options.delay = try arguments.optional(delay) ?? .zero
        options.maximumAge = try arguments.optional(maxAge)
        options.refresh = arguments.isSet(refresh)
        options.headers = try HeaderOption.headers(from: arguments)
        options.trace = try arguments.optional(traceparent)
        if options.refresh, options.maximumAge != nil {
            throw arguments.usageError("'--refresh' and '--max-age' contradict each other.")
        }
        return options
    }
}

extension ValueType where Value == TraceParent {
    fileprivate static var traceParent: Self {
        Self("traceparent") { (text) throws(InvalidValue) in
            do {
                return try TraceParent(text)
            } catch {
                throw InvalidValue("\(error)")
            }
        }
    }
}
