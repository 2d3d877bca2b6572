import CommandLineKit

/// The queue within the part of Redis that is ours.
enum QueueOption {
    static let name = Flag("queue", .keyName, default: "default", section: .redis, "The queue within it.")

    /// For a command with a queue of its own: known so that it can be refused with a reason, and never read from the environment, which
    /// is there for the other commands.
    static let refused = FlagEntry(
        name: name.entry.name, form: .value(placeholder: "name", completion: .none, check: { _ in }), summary: "", isHidden: true)

    static func refuse(_ arguments: Arguments) throws(UsageError) {
        guard arguments.origin(of: refused) == .option else { return }
        throw arguments.usageError("'run' uses a queue of its own; '--queue' is for 'enqueue', 'work' and 'status'.")
    }
}
