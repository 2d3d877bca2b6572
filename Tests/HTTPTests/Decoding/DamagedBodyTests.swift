import GannetTestKit
import Testing

@testable import GannetHTTP

@Suite(.timeLimit(.minutes(2))) struct DamagedBodyTests {
    @Test(arguments: EncodedSample.checked)
    func `no flipped bit makes other content where there is a checksum`(sample: EncodedSample) throws {
        var damaged = sample.body
        for index in damaged.indices {
            for bit in 0..<8 {
                damaged[index] ^= 1 << bit
                defer { damaged[index] ^= 1 << bit }
                // Some bits do not matter, such as the time in a header.
                if let content = try? decoded(damaged, sample.encoding) { #expect(content == sample.content, "byte \(index), bit \(bit)") }
            }
        }
    }

    @Test func `the error of a wrong checksum says so`() {
        var gzip = Deflated.gzip(EncodedSample.text)
        gzip[gzip.count - 5] ^= 1
        #expect(throws: FetchError.malformed(.gzip, detail: "incorrect data check")) { try decoded(gzip, "gzip") }
        var length = Deflated.gzip(EncodedSample.text)
        length[length.count - 1] ^= 1
        #expect(throws: FetchError.malformed(.gzip, detail: "incorrect length check")) { try decoded(length, "gzip") }
        var zstd = Zstandard.compressed(EncodedSample.text)
        zstd[zstd.count - 1] ^= 1
        #expect(throws: FetchError.self) { try decoded(zstd, "zstd") }
    }

    @Test(arguments: ["gzip", "deflate", "br", "zstd"])
    func `a body that is not encoded as it says is malformed`(encoding: String) throws {
        let page = Array("<!DOCTYPE html><html><body>An error page, plain as it is.</body></html>".utf8)
        let failure = try #require(throws: FetchError.self) { try decoded(page, encoding) }
        #expect(failure.detail.hasPrefix("the body cannot be decoded as \(encoding): "), "\(failure)")
    }

    @Test(arguments: [[0], [0, 0, 0, 0, 0, 0, 0, 0], Array("\r\n".utf8), Array("<!-- served by -->".utf8), [0x8b], [0, 0x1f, 0x8b]])
    func `bytes that an old server appends behind gzip and zlib are ignored`(tail: [UInt8]) throws {
        let text = EncodedSample.text
        for body in [Deflated.gzip(text), Deflated.gzip([]) + Deflated.gzip(text)] {
            #expect(try decoded(body + tail, "gzip") == text)
            #expect(try decoded(body + tail, ["gzip"], pieces: (body + tail).map { _ in 1 }) == text)
        }
        #expect(try decoded(Deflated.zlib(text) + tail, "deflate") == text)
        #expect(try decoded(Deflated.zlib(text) + tail, ["deflate"], pieces: (0..<100).map { _ in 1 }) == text)
    }

    @Test(arguments: [
        ("deflate", Deflated.raw(EncodedSample.text)), ("br", Brotli.compressed(EncodedSample.text)),
        ("zstd", Zstandard.compressed(EncodedSample.text)),
    ])
    func `where nothing confirms the end, nothing may come behind it`(encoding: String, body: [UInt8]) {
        for tail in [Array("\r\n page".utf8), [0, 0, 0, 0, 0]] {
            #expect(throws: FetchError.self) { try decoded(body + tail, encoding) }
            #expect(throws: FetchError.self) { try decoded(body + tail, [encoding], pieces: [body.count]) }
        }
    }

    @Test func `a failure is final`() throws {
        let decoder = try ContentDecoder(encodings: ["gzip"], intermediateLimit: 1)
        for _ in 0..<2 {
            #expect(throws: FetchError.malformed(.gzip, detail: "incorrect header check")) {
                try [UInt8]([1, 2]).withUnsafeBytes { try decoder.decode($0) { _ in true } }
            }
        }
        #expect(throws: FetchError.malformed(.gzip, detail: "incorrect header check")) { try decoder.finish() }
    }
}
