import ClusterState
import CommandLineKit
import Gannet
import GannetBasics

/// `gannet explain URL`: why a URL would be fetched now, or why not.
enum ExplainCommand: Command {
    static let spec = CommandSpec(
        "explain",
        summary: "Tell what is known of a URL: its outcome, the worker that has it, and the state of its host.",
        positional: Positional("url", isSingle: true, "The URL, as it would be enqueued."),
        flags: [HeaderOption.header.entry, CommonFlags.json.entry] + QueueTarget.flags)

    static func options(from arguments: Arguments) throws(UsageError) -> ExplainOptions {
        ExplainOptions(
            url: arguments.single, headers: try HeaderOption.headers(from: arguments), json: arguments.isSet(CommonFlags.json),
            target: try QueueTarget(arguments))
    }

    static func run(_ options: ExplainOptions) async throws(CommandFailure) -> ExitStatus {
        try await options.target.withCluster { (cluster) throws(CommandFailure) in
            let (url, found) = try await CommandFailure.wrapping {
                let url = try RequestedURL(options.url, headers: options.headers)
                return (url, try await cluster.explain(url.id, host: url.host))
            }
            let report = ExplanationReport(url, found)
            try options.target.console.print(options.json ? report.json.text : report.text)
            return .done
        }
    }
}

/// The arguments of `gannet explain`.
struct ExplainOptions: Sendable {
    var url: String
    var headers: RequestHeaders
    var json: Bool
    var target: QueueTarget
}
