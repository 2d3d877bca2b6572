/// What the process tells its caller. Scripts rely on these numbers.
enum ExitStatus: Int32, Sendable {
    case done = 0
    case someFailed = 1
    case wrongUsage = 64
    case noUsableInput = 65
    /// Redis, or another part the command needs, cannot be had.
    case unavailable = 69
    /// Ours, not the user's.
    case defect = 70
    case cannotWrite = 74
    case timedOut = 75
    /// The namespace in Redis has another major version of the schema.
    case otherSchema = 78
    /// By SIGINT, before it was done.
    case interrupted = 130
    /// By SIGTERM, before it was done.
    case terminated = 143
}

extension ExitStatus: CaseIterable {
    /// For help.
    var meaning: String {
        switch self {
        case .done: "Done."
        case .someFailed: "Some URLs failed or were invalid."
        case .wrongUsage: "Wrong usage."
        case .noUsableInput: "The input cannot be used."
        case .unavailable: "Redis, or another part, cannot be had."
        case .defect: "A defect of gannet's own."
        case .cannotWrite: "The output cannot be written."
        case .timedOut: "Timed out waiting, or not all has ended yet."
        case .otherSchema: "The data in Redis has the schema of another version of gannet."
        case .interrupted: "Interrupted (Ctrl-C) before it was done."
        case .terminated: "Terminated before it was done."
        }
    }
}
