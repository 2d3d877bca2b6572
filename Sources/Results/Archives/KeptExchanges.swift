internal import GannetBase
internal import GannetHTTP
internal import GannetQueue

/// The exchanges of fetches in a folder of bodies: the file `.wire/3f/3fa94c…` has those of the URL with that id.
///
/// A worker's folder has them for jobs whose batch keeps them. The folder of an export has them until they are in an archive.
extension BodyFolder {
    private static let wireFolder = ".wire"

    private static func name(ofExchanges id: URLID) -> String {
        let digits = id.bytes.hexadecimal
        return "\(wireFolder)/\(digits.prefix(2))/\(digits)"
    }

    /// Whether the folders of the file are no links: their targets may lie outside.
    private func hasOwnFolders(ofExchanges id: URLID) -> Bool {
        let parent = Self.name(ofExchanges: id).split(separator: "/").dropLast().joined(separator: "/")
        return [Self.wireFolder, parent].allSatisfy { fileStatus("\(path)/\($0)")?.isFolder == true }
    }

    func writeExchanges(_ bytes: [UInt8], of id: URLID) throws {
        _ = try place(newFile(of: bytes), as: Self.name(ofExchanges: id))
    }

    /// The bytes of a URL's exchanges; `nil` where they are not here, or are others than `place` says.
    func exchanges(of id: URLID, at place: ExchangesPlace) -> [UInt8]? {
        hasOwnFolders(ofExchanges: id) ? body(Self.name(ofExchanges: id), size: place.size, digest: place.digest) : nil
    }

    /// The exchanges that this folder has of a URL; nil where it has none, or others wrote the file.
    func exchanges(of id: URLID) -> WireRecord.Kept? {
        guard hasOwnFolders(ofExchanges: id), let file = try? OpenedFile("\(path)/\(Self.name(ofExchanges: id))", O_RDONLY),
            let size = try? file.size, 1...ExchangesPlace.most ~= size
        else { return nil }
        return Descriptor.contents(of: file.descriptor, atMost: size).flatMap { WireRecord.unpacked($0) }
    }

    func hasExchanges(of id: URLID) -> Bool {
        hasOwnFolders(ofExchanges: id) && fileStatus("\(path)/\(Self.name(ofExchanges: id))")?.isFile == true
    }

    func removeExchanges(of id: URLID) { if hasOwnFolders(ofExchanges: id) { remove(Self.name(ofExchanges: id)) } }

    /// Removes the exchanges of these URLs, and folders that are empty then.
    func removeExchanges(where isOver: (URLID) throws -> Bool) rethrows {
        for number in 0..<256 {
            let folder = "\(Self.wireFolder)/\([UInt8(number)].hexadecimal)"
            for file in files(in: folder) {
                guard let bytes = [UInt8](hexadecimal: file.utf8), let id = URLID(bytes), try isOver(id) else { continue }
                removeExchanges(of: id)
            }
            removeFolderIfEmpty(folder)
        }
        removeFolderIfEmpty(Self.wireFolder)
    }
}

/// The exchanges of a fetch that a store keeps, as the outcome names them: by their SHA-256 and their size.
package struct ExchangesPlace: Sendable, Equatable {
    package let digest: [UInt8]
    package let size: Int

    /// No store takes longer ones.
    static let most = 100_000_000

    init(_ bytes: [UInt8]) {
        digest = SHA256Digest(of: bytes).bytes
        size = bytes.count
    }

    /// Nil for text of another form: other programs may write into Redis.
    package init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, words[0].utf8.count == 64, let digest = [UInt8](hexadecimal: words[0].utf8), let size = Int(words[1]),
            1...Self.most ~= size
        else { return nil }
        self.digest = digest
        self.size = size
    }

    package var text: String { "\(digest.hexadecimal) \(size)" }
}

extension OutcomeContent {
    /// The exchanges of the fetch, where the batch of its job keeps them.
    var exchanges: ExchangesPlace? { fields[.wire].flatMap { ExchangesPlace($0) } }
}
