import GannetTestKit
import Testing

@testable import GannetHTTP

@Suite(.timeLimit(.minutes(2))) struct DecodingBoundsTests {
    /// A gigabyte of zeros in a megabyte or less.
    private static let bombs: [(name: String, body: [UInt8])] = [
        ("gzip", Array([[UInt8]](repeating: Deflated.gzip(zeros, level: 9), count: 64).joined())),
        ("zstd", Array([[UInt8]](repeating: Zstandard.compressed(zeros), count: 64).joined())),
        ("br", Brotli.compressed([UInt8](repeating: 0, count: 1 << 28))),
    ]
    private static let zeros = [UInt8](repeating: 0, count: 1 << 24)

    @Test func `no more of a bomb is decoded than the sink wants`() throws {
        for (name, body) in Self.bombs {
            #expect(body.count < 1 << 21)
            let decoder = try ContentDecoder(encodings: [name], intermediateLimit: 1)
            var count = 0
            let tookAll = try body.withUnsafeBytes { body in
                try decoder.decode(body) { piece in
                    count += piece.count
                    return count <= 1_000_000
                }
            }
            #expect(!tookAll)
            #expect(count <= 1_000_000 + 64 * 1024)
        }
    }

    @Test func `a bomb without any output in the end is stopped between its encodings`() throws {
        // Members of gzip without content, of which brotli packs a hundred thousand into a page.
        let members = Array([[UInt8]](repeating: Deflated.gzip([]), count: 1 << 17).joined())
        let body = Brotli.compressed(members)
        #expect(body.count < 1000)
        func decode(limit: Int64) throws {
            let decoder = try ContentDecoder(encodings: ["gzip", "br"], intermediateLimit: limit)
            let tookAll = try body.withUnsafeBytes { body in
                try decoder.decode(body) { _ in
                    Issue.record("something came out")
                    return true
                }
            }
            #expect(tookAll)
            try decoder.finish()
        }
        #expect(throws: FetchError.tooLarge(.brotli, limit: 1_000_000)) { try decode(limit: 1_000_000) }
        #expect(throws: FetchError.tooLarge(.brotli, limit: Int64(members.count) - 1)) { try decode(limit: Int64(members.count) - 1) }
        try decode(limit: Int64(members.count))
    }

    @Test func `zstd's window is at most 8 MB, however the body comes`() throws {
        let text = EncodedSample.text
        #expect(try decoded(Zstandard.compressed(text, window: 23, saysSize: false), "zstd") == text)
        // A frame that says its size and still asks for a window of 128 MB. Given all of it at once, the library would accept it.
        let content = [UInt8](repeating: 0x61, count: 256)
        let frame: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd, 0x40, 0x88, 0, 0, 0x01, 0x08, 0] + content
        for body in [Zstandard.compressed(text, window: 24, saysSize: false), frame] {
            for position in 0...body.count {
                #expect(throws: FetchError.malformed(.zstd, detail: "Frame requires too much memory for decoding")) {
                    try decoded(body, ["zstd"], pieces: [position])
                }
            }
        }
        let modest: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd, 0x40, 0x68, 0, 0, 0x01, 0x08, 0] + content
        #expect(try decoded(modest, "zstd") == content)
    }

    @Test func `formats from before zstd had one are not decoded, however the body comes`() {
        let body: [UInt8] = [0x27, 0xb5, 0x2f, 0xfd, 0x20, 5, 0x40, 0, 5] + Array("hello".utf8) + [0xc0, 0, 0]
        for position in 0...body.count {
            #expect(throws: FetchError.malformed(.zstd, detail: "Unknown frame descriptor")) {
                try decoded(body, ["zstd"], pieces: [position])
            }
        }
    }

    @Test func `brotli's window is at most 16 MB`() throws {
        let text = EncodedSample.text
        #expect(try decoded(Brotli.compressed(text, window: 24), "br") == text)
        #expect(throws: FetchError.malformed(.brotli, detail: "WINDOW_BITS")) {
            try decoded(Brotli.compressed(text, window: 25), "br")
        }
    }
}
