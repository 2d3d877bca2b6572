import CommandLineKit
import Gannet

/// `gannet explain URL`: why a URL would be fetched now, or why not.
enum ExplainCommand: Command {
    static let spec = CommandSpec(
        "explain",
        summary: "Tell what is known of a URL: its outcome, who has it, its host's state.",
        positional: Positional("url", isSingle: true, "The URL, as it would be enqueued."),
        flags: [HeaderOption.header.entry, CommonFlags.json.entry] + QueueTarget.flags)

    static func options(from arguments: Arguments) throws(UsageError) -> ExplainOptions {
        ExplainOptions(
            url: arguments.single, headers: try HeaderOption.headers(from: arguments), json: arguments.isSet(CommonFlags.json),
            target: try QueueTarget(arguments))
    }

    static func run(_ options: ExplainOptions) async throws(CommandFailure) -> ExitStatus {
        try await options.target.withCluster { (cluster) throws(CommandFailure) in
            let found = try await CommandFailure.wrapping { () throws(ClusterError) in
                try await cluster.explain(options.url, headers: options.headers)
            }
            let report = ExplanationReport(found)
            try options.target.console.print(options.json ? report.json.text : report.text)
            return .done
        }
    }
}

/// What `gannet explain` was asked to do.
struct ExplainOptions: Sendable {
    var url: String
    var headers: ExtraHeaders
    var json: Bool
    var target: QueueTarget
}
