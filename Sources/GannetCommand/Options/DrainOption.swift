import CommandLineKit

/// How a worker that is asked to stop ends.
enum DrainOption {
    static let time = Flag(
        "drain-timeout", .duration(in: .zero...(.seconds(86_400))), default: "25s", section: .fetching,
        "How long what is in flight may go on after the first signal; then it is handed back.")
}
