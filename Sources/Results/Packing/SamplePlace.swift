internal import GannetBase

/// Where the body of a sample lies: `00012.tar/3fa94c….jpg`, as journals and manifests have it. No folder of bodies has a shard's name.
struct SamplePlace: Sendable, Equatable {
    /// The name of the shard's file.
    let shard: String
    /// The name of the body within it.
    let name: String

    private static let ending = ".tar"

    init(shard: String, name: String) {
        self.shard = shard
        self.name = name
    }

    /// Nil for the path of a body's own file.
    init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].hasSuffix(Self.ending), !parts[1].isEmpty else { return nil }
        let digits = parts[0].dropLast(Self.ending.count)
        guard !digits.isEmpty, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        (shard, name) = (String(parts[0]), String(parts[1]))
    }

    var text: String { "\(shard)/\(name)" }

    /// The zeros with which each tar file ends.
    private static let end = 1024

    /// Whether the shard is there and ends as a tar file does: a copy that was cut short does not. Its other bytes are not read.
    func isThere(in folder: String) -> Bool {
        let path = "\(folder)/\(shard)"
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > Self.end else { return false }
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return withUnsafeTemporaryAllocation(byteCount: Self.end, alignment: 16) { buffer in
            Descriptor.read(into: buffer, from: descriptor, at: Int(status.st_size) - Self.end) == Self.end && buffer.allSatisfy { $0 == 0 }
        }
    }
}
