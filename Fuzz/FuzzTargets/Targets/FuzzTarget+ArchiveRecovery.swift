import GannetBase
import GannetTestKit
import Results

extension FuzzTarget {
    /// The input is a byte that says how the file came about, and its bytes: the file itself, the text of its records, or the damage to a file.
    static let archiveRecovery = FuzzTarget(name: "archive-recovery", maximumLength: 4096) {
        let file = written
        let head =
            "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:x>\r\nWARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Target-URI: http://h/\r\n"
        let texts = [
            "\(head)Content-Length: 25\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\nx\r\n\r\n", "\(head)Content-Length: 0\r\n\r\n\r\n\r\n",
            "\(head)Content-Length: 9223372036854775807\r\n\r\n\r\n\r\n",
            "WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: <>\r\nContent-Length: 0\r\n\r\n\r\n\r\n",
        ]
        return [[0] + file, [0] + file.dropLast(3), [2, 0, 200, 1], [2, 2, 0]] + texts.map { [1] + Array($0.utf8) }
            + [[1] + Array((texts[0] + "\0" + texts[1]).utf8)]
    } check: { (input) throws(BrokenInvariant) in
        guard let kind = input.first else { return }
        let bytes = Array(input.dropFirst())
        switch kind % 3 {
        case 0: try check(archive: bytes, keeping: 0)
        case 1:
            // Zero bytes part the texts. Each becomes a member with a right checksum.
            try check(archive: bytes.split(separator: 0, omittingEmptySubsequences: false).flatMap { Deflated.gzip(Array($0)) }, keeping: 0)
        default:
            // From a place on, the file's bytes are others.
            guard bytes.count >= 2 else { return }
            let place = (Int(bytes[0]) << 8 | Int(bytes[1])) % (written.count + 1)
            try check(archive: Array(written[..<place]) + Array(bytes[2...]), keeping: ends.last { $0 <= place } ?? 0)
        }
    }

    // MARK: Files

    private static let prefix = "f"
    private static let name = "f-20260101000000-00000.warc.gz"

    /// A file of a few exchanges, and the ends of the exchanges in it.
    private static let (written, ends): ([UInt8], [Int]) = {
        do {
            let folder = try TemporaryFolder()
            let writer = WARCWriter(folder: folder.path, prefix: prefix, now: { Date(timeIntervalSince1970: 1_767_225_600) })
            var ends: [Int] = []
            for number in 0..<4 {
                var exchange = WARCExchange(
                    url: "http://h/\(number)", date: Date(timeIntervalSince1970: 1_767_225_600),
                    responseHead: Array("HTTP/1.1 \(number == 2 ? 304 : 200) x\r\nContent-Type: a/b\r\n\r\n".utf8))
                exchange.body = .bytes(number == 2 ? [] : [1, 2, 3])
                try writer.write(exchange)
                ends.append(try contents(ofFile: folder.file(name + ".open")).count)
            }
            try writer.close()
            return (try contents(ofFile: folder.file(name)), ends)
        } catch { fatalError("A file cannot be written: \(error)") }
    }()

    // MARK: Invariants

    /// A folder of this process.
    private static let folder = try? TemporaryFolder()

    /// - Parameter kept: The length of the beginning that must stay.
    private static func check(archive bytes: [UInt8], keeping kept: Int) throws(BrokenInvariant) {
        guard let folder, (try? folder.write(bytes, to: name + ".open")) != nil else {
            throw BrokenInvariant(description: "an archive cannot be written")
        }
        let index = name.dropLast(".warc.gz".count) + ".cdxj"
        defer { for file in (try? folder.files) ?? [] { unlink(folder.file(file)) } }
        let (first, file, lines) = try recovered(folder)
        try require(bytes.starts(with: file), "the recovered file is no beginning of the one that was left")
        try require(file.count >= kept, "\(file.count) bytes stay, and not \(kept)")
        try require(
            first.isRemoved || first.bytesCut == bytes.count - file.count, "\(first.bytesCut) bytes were cut, and \(file.count) stay")
        guard !first.isRemoved else { return }
        let texts = lines.split(separator: UInt8(ascii: "\n"))
        try require(texts.count == first.captures, "the index has \(texts.count) lines for \(first.captures) captures")
        for line in texts {
            let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
            let isWhole = words.count == 3 && !words[0].isEmpty && words[1].count == 14 && words[2].first == UInt8(ascii: "{")
            try require(isWhole, "a line of the index is \(String(decoding: line, as: UTF8.self).debugDescription)")
        }
        // The same once more.
        guard rename(folder.file(name), folder.file(name + ".open")) == 0, unlink(folder.file(String(index))) == 0 else {
            throw BrokenInvariant(description: "a recovered file or its index is not there")
        }
        let (second, again, linesAgain) = try recovered(folder)
        try require(again == file && linesAgain == lines && second.bytesCut == 0, "a recovered file is recovered to another")
    }

    private static func recovered(_ folder: TemporaryFolder) throws(BrokenInvariant) -> (RecoveredFile, [UInt8], [UInt8]) {
        do {
            guard let result = try WARCWriter.recover(folder.path, prefix: prefix).first else {
                throw BrokenInvariant(description: "the file was not recovered")
            }
            if result.isRemoved {
                try require(folder.files.isEmpty, "a removed file has left something")
                return (result, [], [])
            }
            return (
                result, try contents(ofFile: folder.file(name)),
                try contents(ofFile: folder.file(name.dropLast(".warc.gz".count) + ".cdxj"))
            )
        } catch let broken as BrokenInvariant { throw broken } catch {
            throw BrokenInvariant(description: "recovery has failed: \(error)")
        }
    }
}
