import Foundation
import Gannet

/// What makes two runs the same run: their input and their folder. The same command again finds the queue that an interrupted one left.
struct RunIdentity: Sendable {
    /// The run's own queue, so that two runs never take each other's jobs.
    let queue: String

    /// What the input was when the run began; another one cannot go on where that stopped. `nil` for standard input, which cannot be
    /// compared before it is read.
    let source: String?

    /// One batch feeds the queue.
    static let batch = "run"

    init(_ input: InputOptions, folder: String) {
        var parts = ["folder", URL(fileURLWithPath: folder).standardizedFileURL.path]
        switch input.source {
        case .file(let path):
            parts += ["file", URL(fileURLWithPath: path).standardizedFileURL.path]
        case .standardInput:
            parts.append("standard input")
        case nil:
            parts += ["arguments"] + input.urls
        }
        source = input.fingerprint
        queue = "run-" + Fingerprint.of(parts)
    }
}
