internal import GannetBasics

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

    /// Whether the shard is there. A complete shard is never changed, so its bytes are not read.
    func isThere(in folder: String) -> Bool {
        var status = stat()
        return lstat("\(folder)/\(shard)", &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }
}
