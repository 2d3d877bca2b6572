/// The exit status of the process. Scripts rely on these numbers.
enum ExitStatus: Int32, Sendable {
    case done = 0
    case someFailed = 1
    case wrongUsage = 64
    case noUsableInput = 65
    case unavailable = 69
    case defect = 70
    case cannotWrite = 74
    case timedOut = 75
    case otherSchema = 78
    case interrupted = 130
    case terminated = 143
}

extension ExitStatus: CaseIterable {
    /// For help.
    var meaning: String {
        switch self {
        case .done: "Done."
        case .someFailed: "Some URLs failed or were invalid, or 'doctor' has left a finding."
        case .wrongUsage: "Wrong usage."
        case .noUsableInput: "The input cannot be used."
        case .unavailable: "Redis, or another part, cannot be reached, or is unfit."
        case .defect: "A defect of gannet. Please report it."
        case .cannotWrite: "The output cannot be written."
        case .timedOut:
            "'batch wait' has waited for its '--timeout', or 'export' wrote a batch that is not complete yet. The same command may be repeated."
        case .otherSchema: "The data in Redis belongs to a version of gannet with another schema."
        case .interrupted: "Interrupted by Ctrl-C (SIGINT) before it was done."
        case .terminated: "Ended by SIGTERM or SIGHUP before it was done."
        }
    }
}
