import GannetTestKit
import Testing

@testable import GannetHTTP

@Suite struct StoredAnswerCodingTests {
    private static func answers() throws -> [StoredAnswer] {
        let german = RequestFacts(url: Kept.url, headers: HTTPLines.fields(["Accept-Language: de"]))
        let plain = try Kept.answer(["Cache-Control: max-age=60"])
        let full = try Kept.answer(
            [
                "Cache-Control: public, s-maxage=60, immutable", "Vary: Accept-Language, X-A", "Vary: X-B", "Expires: {60}",
                "ETag: W/\"é\"",
                "Last-Modified: {-60}", "Date: {0}", "Age: 10", "Content-Type: text/html; charset=utf-8", "Link: <a>", "Link: ",
                "X-Robots-Tag: noai",
            ], request: german, finalURL: "https://cdn.example.org/ä?b=c", took: .milliseconds(1234))
        let strange = StoredAnswer(
            canonicalURL: "", finalURL: "x", status: 999, headers: plain.headers, requestedAt: .distantFuture, receivedAt: .distantPast,
            freshness: Freshness(
                generatedAt: .distantFuture, freshUntil: .distantPast, staleWhileRevalidateUntil: .distantFuture,
                staleIfErrorUntil: .distantPast,
                mustRevalidate: true, isImmutable: false, source: .invalid),
            isForEverybody: true, digest: SHA256Digest(of: []), byteCount: .max)
        return [plain, full, strange]
    }

    @Test func `an encoded answer is decoded to the same`() throws {
        for answer in try Self.answers() {
            #expect(StoredAnswer(decoding: answer.encoded) == answer)
        }
    }

    @Test func `an ordinary answer takes its digest, its headers and little more`() throws {
        let answer = try Kept.answer(["Cache-Control: max-age=60", "ETag: \"12345678\"", "Content-Type: image/png"])
        let needed = Kept.url.utf8.count + 32 + "max-age=60\"12345678\"image/png".utf8.count
        #expect(answer.encoded.count <= needed + 40)
    }

    /// Written once: a reader of version 3 must go on to read it.
    @Test func `the form of version 3 does not change`() throws {
        let answer = try Kept.answer(["Cache-Control: max-age=60", "ETag: \"a\""])
        let digest = SHA256Digest(of: "body".utf8).bytes
        let head: [UInt8] = [3, 8, 2, 0xc8, 0x01] + digest + [4]
        // 1,717,200,000,000 zigzag, then 0, 0, 60,000, 0, 0 milliseconds.
        let moments: [UInt8] = [0x80, 0xd0, 0xc4, 0x91, 0xfa, 0x63, 0x00, 0x00, 0xc0, 0xa9, 0x07, 0x00, 0x00]
        let fields: [UInt8] = [2, 1, 10] + Array("max-age=60".utf8) + [4, 3] + Array("\"a\"".utf8)
        let expected = head + moments + fields + [21] + Array(Kept.url.utf8)
        #expect(answer.encoded == expected)
    }

    @Test func `another version and no bytes are not read`() throws {
        var bytes = try Self.answers()[0].encoded
        for version in UInt8.min ... .max where version != StoredAnswer.formatVersion {
            bytes[0] = version
            #expect(StoredAnswer(decoding: bytes) == nil)
        }
        #expect(StoredAnswer(decoding: []) == nil)
    }

    @Test func `a part is not read, nor more than all`() throws {
        for bytes in try Self.answers().map(\.encoded) {
            for count in bytes.indices { #expect(StoredAnswer(decoding: Array(bytes.prefix(count))) == nil) }
            for byte in [0, 1, 0x80, 0xff] as [UInt8] { #expect(StoredAnswer(decoding: bytes + [byte]) == nil) }
        }
    }

    @Test func `an answer has one form`() throws {
        var bytes = try Kept.answer(["Cache-Control: max-age=60"]).encoded
        // As if the URL that answered were another one, and then it is not.
        bytes[1] &= ~8
        #expect(StoredAnswer(decoding: bytes + [UInt8(Kept.url.utf8.count)] + Array(Kept.url.utf8)) == nil)
        let other = Kept.url.replacing("/a", with: "/b")
        #expect(StoredAnswer(decoding: bytes + [UInt8(other.utf8.count)] + Array(other.utf8))?.finalURL == other)
    }

    /// Decoded bytes are encoded to the same bytes: no two forms mean one answer, and no number is beyond its bound.
    private func check(_ bytes: [UInt8], _ note: String) {
        guard let answer = StoredAnswer(decoding: bytes) else { return }
        #expect(answer.encoded == bytes, "\(note)")
        #expect(answer.freshness.freshUntil <= answer.freshness.staleWhileRevalidateUntil, "\(note)")
        #expect(answer.freshness.freshUntil <= answer.freshness.staleIfErrorUntil, "\(note)")
        #expect(answer.headers.fields.allSatisfy { !$0.value.contains("\n") && !$0.value.contains("\r") }, "\(note)")
        // Whatever it says, asking about it does not trap.
        _ = LookupDecision(answer, for: Kept.request, policy: FreshnessPolicy(), now: .came, random: 0.5)
        _ = answer.revalidated(by: Kept.exchange([], status: 304), policy: FreshnessPolicy())
        _ = (answer.contentType, answer.conditions, answer.fetchDuration)
    }

    @Test func `each bit turned makes another answer or none`() throws {
        for bytes in try Self.answers().map(\.encoded) {
            for index in bytes.indices {
                for bit in 0..<8 {
                    var flipped = bytes
                    flipped[index] ^= 1 << bit
                    check(flipped, "byte \(index), bit \(bit)")
                }
            }
        }
    }

    @Test func `made-up bytes make an answer or none`() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededBytes(seed: seed)
        let answers = try Self.answers().map(\.encoded)
        var read = 0
        for round in 0..<20_000 {
            var bytes = answers[Int(random.next() % UInt64(answers.count))]
            for _ in 0...(random.next() % 4) {
                let at = Int(random.next() % UInt64(bytes.count))
                let piece = random.next(count: Int(random.next() % 6))
                switch random.next() % 4 {
                case 0: bytes.replaceSubrange(at..<min(at + piece.count, bytes.count), with: piece)
                case 1: bytes.insert(contentsOf: piece, at: at)
                case 2: bytes.removeSubrange(at..<min(at + piece.count, bytes.count - 1))
                default: bytes[at] = [0, 0x7f, 0x80, 0xff, UInt8.max][Int(random.next() % 5)]
                }
                if bytes.isEmpty { bytes = [StoredAnswer.formatVersion] }
            }
            if StoredAnswer(decoding: bytes) != nil { read += 1 }
            check(bytes, "seed \(seed), round \(round)")
        }
        // Otherwise nothing was tried but the version.
        #expect(read > 100, "seed \(seed)")
    }
}
