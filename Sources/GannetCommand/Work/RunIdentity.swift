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
        var source = input.urls
        switch input.source {
        case .file(let path):
            parts += ["file", URL(fileURLWithPath: path).standardizedFileURL.path]
            var status = stat()
            _ = stat(path, &status)
            source += ["\(status.st_ino)", "\(status.st_size)", "\(status.modification)", "\(input.list)"]
            self.source = Fingerprint.of(source)
        case .standardInput:
            parts.append("standard input")
            self.source = nil
        case nil:
            parts += ["arguments"] + input.urls
            self.source = Fingerprint.of(source)
        }
        queue = "run-" + Fingerprint.of(parts)
    }
}

extension stat {
    fileprivate var modification: String {
        #if canImport(Glibc)
        "\(st_mtim.tv_sec).\(st_mtim.tv_nsec)"
        #else
        "\(st_mtimespec.tv_sec).\(st_mtimespec.tv_nsec)"
        #endif
    }
}
