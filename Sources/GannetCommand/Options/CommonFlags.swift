import CommandLineKit

/// The options of every command.
enum CommonFlags {
    static let quiet = Toggle("quiet", section: .common, "Say nothing but errors on standard error.")
    static let verbose = Toggle("verbose", section: .common, "Say more on standard error.")

    /// Of the commands that can.
    static let json = Toggle("json", "Print JSON, one object a line.")

    static let everywhere = [quiet.entry, verbose.entry, LogOptions.flag]
}

/// How much is said on standard error beside errors.
enum Verbosity: Sendable, Comparable {
    case quiet
    case normal
    case verbose

    init(_ arguments: Arguments) throws(UsageError) {
        let (quiet, verbose) = (arguments.isSet(CommonFlags.quiet), arguments.isSet(CommonFlags.verbose))
        switch (quiet, verbose) {
        case (false, false): self = .normal
        case (true, false): self = .quiet
        case (false, true): self = .verbose
        case (true, true):
            // The flag wins over the environment; two of the same kind contradict each other.
            let origins = (arguments.origin(of: CommonFlags.quiet.entry), arguments.origin(of: CommonFlags.verbose.entry))
            switch origins {
            case (.option?, .variable?): self = .quiet
            case (.variable?, .option?): self = .verbose
            default: throw arguments.usageError("'--quiet' and '--verbose' contradict each other.")
            }
        }
    }
}
