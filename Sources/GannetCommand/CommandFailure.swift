import Crawl
import GannetHTTP
import GannetQueue
import Lists
import Results

/// Why a command stops: its exit status and one sentence for standard error.
struct CommandFailure: Error, Sendable, Equatable {
    let status: ExitStatus
    /// Nil when there is nothing left to say, or no reader.
    let message: String?

    init(_ status: ExitStatus, _ message: String?) {
        self.status = status
        self.message = message
    }

    /// The reader of standard output has left.
    static let outputClosed = CommandFailure(.done, nil)
}

extension CommandFailure {
    /// Takes a command's own failure as it is, and gives the errors of other parts their exit status.
    init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let failure as TableFailure: self.init(failure)
        case let failure as StorageFailure: self.init(.cannotWrite, failure.sentence)
        case let other as OtherFormat: self.init(.wrongUsage, other.sentence)
        case let invalid as InvalidOptions: self.init(.wrongUsage, invalid.description)
        default:
            guard let error = StateError(error) else {
                self.init(.defect, "Unexpected error: \(error). This is a defect of gannet; please report it.")
                return
            }
            self.init(error)
        }
    }

    private init(_ error: StateError) {
        let status: ExitStatus =
            switch error.reason {
            case .usage: .wrongUsage
            case .unavailable: .unavailable
            case .unconfirmed: .timedOut
            case .otherSchema: .otherSchema
            case .defect: .defect
            }
        let hint =
            if error.reason == .otherSchema {
                " '--namespace' names another."
            } else {
                error.isWrongType ? " 'gannet doctor' names the key." : ""
            }
        self.init(status, error.description + hint)
    }
}

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
        case .someFailed: "Some URLs failed or were invalid, 'doctor' has left a finding, or 'diff --exit-code' has found a change."
        case .wrongUsage: "Wrong usage."
        case .noUsableInput: "The input cannot be used."
        case .unavailable: "Redis, or another part, cannot be reached, or is unfit."
        case .defect: "A defect of gannet. Please report it."
        case .cannotWrite: "The output cannot be written."
        case .timedOut:
            "'batch wait' or 'workers drain' has waited for its '--timeout', or 'run --finish' for half an hour. Or 'export' wrote a batch that is not complete yet, or no replica has confirmed what "
                + "'enqueue --durability replicated' added. The same command may be repeated."
        case .otherSchema: "The data in Redis belongs to a version of gannet with another schema."
        case .interrupted: "Interrupted by Ctrl-C (SIGINT) before it was done."
        case .terminated: "Ended by SIGTERM or SIGHUP before it was done."
        }
    }
}
