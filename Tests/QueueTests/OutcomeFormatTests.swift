import GannetBase
import Testing

@testable import GannetQueue

/// Outcomes as bytes.
@Suite struct OutcomeFormatTests {
    private static func header(flags: UInt8, ended: Int = 5_000_000, took: Int = 250, fresh: Int = 60) -> [UInt8] {
        var bytes: [UInt8] = [1, flags] + [UInt8](0..<16)
        bytes.append(number: ended, count: 6)
        bytes.append(number: took, count: 4)
        bytes.append(number: fresh, count: 4)
        return bytes
    }

    private static var full: OutcomeContent {
        var content = OutcomeContent(url: "https://a.example/é?x=1")
        content.digest = [UInt8](1...32)
        content.status = 404
        content.kind = 3
        content.size = 1 << 33
        for field in OutcomeContent.Field.allCases { content.fields[field] = "value of \(field)" }
        return content
    }

    @Test(arguments: ["http://a/", "https://a/", "ftp://a/", "", "http://", "HTTP://a/"])
    func `a content is read as it was written, with any URL`(url: String) {
        var content = Self.full
        content.url = url
        #expect(OutcomeContent(content.bytes[...]) == content)
        #expect(OutcomeContent(OutcomeContent(url: url).bytes[...]) == OutcomeContent(url: url))
    }

    @Test func `facts are written without the digest, the URL and the type, and read as they were`() {
        var content = Self.full
        let parts = [content.digest ?? [], Array(content.url.utf8), Array("value of contentType".utf8)]
        for facts in [[], [1, 2, 3], parts.joined() + [7], [9] + parts[2] + parts[1] + [8] + parts[0], parts[1] + parts[1]] as [[UInt8]] {
            content.facts = facts
            #expect(OutcomeContent(content.bytes[...]) == content)
        }
        var bare = content
        bare.facts = []
        content.facts = Array(parts.joined()) + [7]
        #expect(content.bytes.count == bare.bytes.count + 1)
        content.fields[.contentType] = String(repeating: "é", count: 3000)
        content.facts = Array(repeating: 0xc3, count: 5) + Array((content.fields[.contentType] ?? "").utf8)
        #expect(OutcomeContent(content.bytes[...])?.facts == content.facts)
    }

    @Test func `the times of a fetch take three bytes a phase, and a fetch without times takes none`() throws {
        var content = Self.full
        content.facts = [1, 2, 3]
        let bare = content.bytes
        var phases = PhaseTimes()
        for (index, phase) in PhaseTimes.all.enumerated() {
            phases[keyPath: phase.path] = UInt32(1000 * index + 1)
            content.phases = phases
            #expect(OutcomeContent(content.bytes[...]) == content)
            #expect(content.bytes.count == bare.count + 4 + 3 * (index + 1))
        }
        content.phases?.transfer = .max
        #expect(try #require(OutcomeContent(content.bytes[...])?.phases).transfer == 0xff_ffff)
        content.phases = PhaseTimes()
        #expect(content.bytes.count == bare.count + 4 && OutcomeContent(content.bytes[...])?.phases == PhaseTimes())
    }

    @Test func `a failure without a message has a sentence made of its status or its class`() {
        var content = OutcomeContent(url: "http://a/")
        #expect(content.failureSentence == "The fetch failed for a reason that was not recorded.")
        content.fields = [.errorClass: "connect", .errorMessage: ""]
        #expect(content.failureSentence == "The fetch failed (connect).")
        content.status = 404
        #expect(content.failureSentence == "The server answered 404.")
        content.fields[.errorMessage] = "Could not connect (http://a/)."
        #expect(content.failureSentence == "Could not connect (http://a/).")
    }

    @Test func `values that do not fit are cut, and no other values are`() {
        var content = Self.full
        content.status = 70_000
        content.size = 1 << 50
        content.fields = [.errorMessage: String(repeating: "x", count: 100_000), .vary: "v"]
        let read = OutcomeContent(content.bytes[...])
        #expect(read?.status == 65_535 && read?.size == 1 << 40 - 1)
        #expect(read?.fields[.errorMessage]?.count == 4096 && read?.fields[.vary] == "v" && read?.url == content.url)
        content.status = -1
        content.size = -1
        #expect(OutcomeContent(content.bytes[...])?.status == 0 && OutcomeContent(content.bytes[...])?.size == 0)
    }

    @Test(arguments: [(0, false, true), (1, true, true), (2, false, false), (3, true, false)])
    func `an outcome tells its token, its times, and for whom it is`(flags: Int, isNegative: Bool, isStored: Bool) throws {
        let page = try #require(URLOutcome(Self.header(flags: UInt8(flags)) + Self.full.bytes))
        #expect(page.token == LockToken([UInt8](0..<16)))
        #expect(page.began == 4_999_750 && page.ended == 5_000_000 && page.freshUntil == 5_060_000)
        #expect(page.isNegative == isNegative && page.isStored == isStored && page.content == Self.full)
    }

    @Test func `fields of an outcome that have an unknown tag are skipped`() throws {
        var content = OutcomeContent(url: "https://a.example/x")
        content.fields = [.entityTag: "\"e\"", .vary: "accept"]
        var bytes = content.bytes
        // The field stands between the two known fields. The count is in the low six bits of byte 40.
        bytes.insert(contentsOf: [200, 0, 3, 1, 2, 3], at: 41)
        bytes[40] += 1
        #expect(OutcomeContent(bytes[...]) == content)
    }

    @Test func `an outcome of another version is not read, and neither is a part of one`() {
        let bytes = Self.header(flags: 0) + Self.full.bytes
        for version in [0, 2, 255] as [UInt8] { #expect(URLOutcome([version] + bytes.dropFirst()) == nil) }
        let withoutURL = bytes.count - "a.example/é?x=1".utf8.count
        for count in 0..<bytes.count { #expect((URLOutcome(Array(bytes.prefix(count))) == nil) == (count < withoutURL)) }
        // The scheme is one that no version knows yet.
        var unknown = bytes
        unknown[32 + 40] |= 0xc0
        #expect(URLOutcome(unknown) == nil)
    }

    @Test func `random bytes are no trap`() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededRandom(seed: seed)
        for round in 0..<1000 {
            var bytes = (0..<Int.random(in: 0...200, using: &random)).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            if round % 2 == 0 {
                bytes = Self.header(flags: 0) + Self.full.bytes
                for _ in 0..<4 { bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: .min ... .max, using: &random) }
            }
            if let page = URLOutcome(bytes) { #expect(page.began <= page.ended && page.content.status <= 65_535, "seed \(seed)") }
            _ = OutcomeContent(bytes[...])
        }
        print("random pages: seed \(seed)")
    }
}
