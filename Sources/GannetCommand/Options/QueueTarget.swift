import ClusterState
import CommandLineKit
import Gannet

/// The options of commands about one queue: which Redis, which queue, and how much to print.
struct QueueTarget: Sendable {
    var connection: ConnectionOptions
    var queue: String
    var log: LogOptions

    static let flags =
        ConnectionOptions.flags + [QueueOption.name.entry] + CommonFlags.everywhere

    init(_ arguments: Arguments) throws(UsageError) {
        connection = try ConnectionOptions(arguments)
        queue = try arguments.require(QueueOption.name)
        log = try LogOptions(arguments)
    }

    var console: Console { Console(log) }

    /// Runs `body` with the cluster. An outage of Redis is told at once: whoever looks does not want to wait.
    func withCluster<Value: Sendable>(
        _ body: (ClusterState) async throws(CommandFailure) -> Value
    ) async throws(CommandFailure) -> Value {
        let access = try await ClusterAccess.open(connection, console: console, patience: .zero)
        do throws(CommandFailure) {
            let value = try await body(access.cluster)
            await access.close()
            return value
        } catch {
            await access.close()
            throw error
        }
    }
}
