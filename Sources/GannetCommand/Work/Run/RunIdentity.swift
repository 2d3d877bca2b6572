import Gannet
import GannetBasics

/// What makes two runs the same run: their input and their folder. The same command again finds the queue that a killed one left.
struct RunIdentity: Sendable {
    /// The run's own queue, so that two runs never take each other's jobs.
    let queue: String

    /// One batch feeds the queue.
    static let batch = "run"

    /// - Parameter folder: The folder's own name. Its path would not do: another machine may have one of the same.
    init(_ input: InputOptions, folder: String) {
        var parts = ["folder", folder]
        switch input.source {
        case .file(let path):
            parts += ["file", URL(fileURLWithPath: path).standardizedFileURL.path]
        case .standardInput:
            parts.append("standard input")
        case nil:
            parts += ["arguments"] + input.urls
        }
        queue = "run-" + Fingerprint.of(parts)
    }
}
