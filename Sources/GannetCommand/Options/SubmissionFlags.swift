import GannetQueue

/// The options of a batch.
enum SubmissionFlags {
    private static let longest = Duration.seconds(365 * 86_400)

    static let batch = Flag(
        "batch", .batchName,
        "A name for the URLs that are enqueued together. After an interruption the same command goes on where it stopped.")
    private static let priority = Flag(
        "priority", .choice("priority", of: Priority.allCases), default: "normal",
        "The priority of the URLs. While there are jobs of each, six of ten have high, three normal and one low priority.")
    private static let delay = Flag("delay", .duration(in: .zero...longest), "How long to wait before the URLs may be fetched.")
    private static let maxAge = Flag(
        "max-age", .duration(in: .zero...longest),
        "How old a known outcome may be to be used instead of a new request. Without this option it is used while it is fresh. An origin that gave a tag "
            + "or a date is asked whether the body has changed.")
    private static let refresh = Toggle(
        "refresh",
        "Ask for every URL again, also when its outcome is known. An origin that gave a tag or a date is asked whether the body has changed."
    )

    private static let traceparent = Flag(
        "traceparent", .traceParent,
        "The trace that the batch belongs to, in the form of W3C Trace Context. A batch keeps its first trace. Workers send it when they have "
            + "'--send-traceparent'. URLs with another trace are still the same URLs.")

    private static let robots = Flag(
        "robots", .choice("robots", of: Manners.Robots.allCases), default: Manners.Robots.obey.rawValue,
        "Whether the robots.txt of a site decides which URLs are fetched from it. URLs that it disallows end as 'disallowed' and are no failures. "
            + "While it cannot be read because of a failure that may pass, the URLs of the site wait.")
    private static let optOuts = Flag(
        "opt-outs", .choice("opt-outs", of: Manners.OptOuts.allCases),
        "Whether an answer is stored that reserves its use by X-Robots-Tag (noai, noimageai, noindex, noimageindex, noml, none) or by "
            + "tdm-reservation: 1. With 'heed' it is not, and its URL ends as 'disallowed'. With 'record' it is stored, and the manifest has the words. "
            + "The default is heed where robots.txt is obeyed, and ignore elsewhere.")

    static let flags = [
        batch.entry, priority.entry, delay.entry, maxAge.entry, refresh.entry, robots.entry, optOuts.entry, HeaderOption.header.entry,
        traceparent.entry,
    ]

    static func options(from arguments: Arguments) throws -> BatchOptions {
        var options = BatchOptions()
        options.priority = try arguments.require(priority)
        options.delay = try arguments.optional(delay) ?? .zero
        options.maximumAge = try arguments.optional(maxAge)
        options.refresh = arguments.isSet(refresh)
        options.headers = try HeaderOption.headers(from: arguments)
        options.trace = try arguments.optional(traceparent)
        let robots = try arguments.require(robots)
        options.manners = Manners(robots: robots, optOuts: try arguments.optional(optOuts) ?? (robots == .obey ? .heed : .ignore))
        if options.refresh, options.maximumAge != nil {
            throw arguments.usageError("'--refresh' and '--max-age' contradict each other.")
        }
        return options
    }
}

extension ValueType where Value == TraceContext {
    fileprivate static var traceParent: Self {
        Self("traceparent") { text in
            do {
                return try TraceContext(text)
            } catch {
                throw UsageError("\(error)")
            }
        }
    }
}

extension ValueType where Value == String {
    /// A name for URLs that are enqueued together.
    static var batchName: Self {
        Self("id") { text in
            guard 1...128 ~= text.utf8.count, text.utf8.allSatisfy({ 33...126 ~= $0 }) else {
                throw UsageError("use 1 to 128 printable ASCII characters without blanks.")
            }
            return text
        }
    }
}
