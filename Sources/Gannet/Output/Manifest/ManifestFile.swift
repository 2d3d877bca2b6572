internal import HTTPEngine

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A file that gets its name when it is complete.
final class ManifestFile {
    private let file: BodyFile
    private let folder: BodyFolder
    private var buffer: [UInt8] = []

    private static let batch = 256 * 1024

    init(in folder: BodyFolder) throws(OutputFailure) {
        self.folder = folder
        file = try OutputFailure.storing { () throws(StorageFailure) in try BodyFile(in: folder.path) }
    }

    func write(_ line: [UInt8]) throws(OutputFailure) {
        buffer += line
        if buffer.count >= Self.batch { try flush() }
    }

    /// - Parameter path: In the stead of what is there.
    func finish(as path: String) throws(OutputFailure) {
        try flush()
        let written = try OutputFailure.storing { () throws(StorageFailure) in try file.keep() }
        try folder.publish(written, as: path)
    }

    private func flush() throws(OutputFailure) {
        let result = buffer.withUnsafeBytes { bytes in Result { () throws(StorageFailure) in try file.write(bytes) } }
        try OutputFailure.storing { () throws(StorageFailure) in try result.get() }
        buffer.removeAll(keepingCapacity: true)
    }
}
