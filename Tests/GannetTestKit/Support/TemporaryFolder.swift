import FoundationEssentials
internal import GannetBase
import Synchronization

/// A folder of its own, removed with everything in it when the last reference goes, and at the latest when the test process ends,
/// however it ends.
package final class TemporaryFolder: Sendable {
    /// The folder's absolute path: short, since the path of a Unix socket in it may have 107 bytes.
    package let path: String

    private static let count = Atomic<Int>(0)

    package init() throws(KitError) {
        let number = Self.count.add(1, ordering: .relaxed).newValue
        path = "\(try Watchdog.started().root)/\(number)"
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        } catch {
            throw KitError("cannot make the folder \(path): \(error)")
        }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of `name` in this folder.
    package func file(_ name: String) -> String {
        "\(path)/\(name)"
    }

    /// Writes a file in this folder and answers its path.
    @discardableResult
    package func write(_ content: some Sequence<UInt8>, to name: String) throws(KitError) -> String {
        do {
            try Data(content).write(to: URL(fileURLWithPath: file(name)))
        } catch {
            throw KitError("cannot write \(file(name)): \(error)")
        }
        return file(name)
    }

    /// Writes a script of the shell that can be started at once, and answers its path.
    ///
    /// A child makes the file. A file that this process writes is open, for a moment, in each process that another test starts meanwhile. Linux
    /// starts no file that somebody may write to.
    package func writeProgram(_ script: String, named name: String = "program") async throws -> String {
        let text = try write(Array("#!/bin/sh\n\(script)\n".utf8), to: "script")
        try await ChildProcess.succeed("install", ["-D", "-m", "755", text, file(name)])
        return file(name)
    }

    /// The names of what is in the folder.
    package var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: path) }
    }

    /// Files in the folder that this process has open, deleted ones included; none where there is no /proc.
    package var openFiles: [String] {
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return descriptors.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
            .filter { $0.hasPrefix(path + "/") }
    }
}

/// The bytes of a file. Foundation's own way to read one leaks a page for each that is empty (Swift 6.3, Linux), and tests have many.
package func contents(ofFile path: String) throws(KitError) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw KitError.system("cannot open \(path)", errno) }
    defer { close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
        let count = read(file, &buffer, buffer.count)
        guard count >= 0 else { throw KitError.system("cannot read \(path)", errno) }
        if count == 0 { return bytes }
        bytes += buffer[..<count]
    }
}
