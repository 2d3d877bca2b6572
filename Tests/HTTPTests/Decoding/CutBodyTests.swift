import GannetTestKit
import Testing

@testable import GannetHTTP

@Suite(.timeLimit(.minutes(2))) struct CutBodyTests {
    /// Where several parts make one body, the rest after a cut may be a whole body: no decoder can tell.
    private static let single = EncodedSample.all.filter { !["two members", "two frames", "frames to skip"].contains($0.testDescription) }

    @Test(arguments: single)
    func `a body that is cut anywhere is truncated`(sample: EncodedSample) {
        for count in 1..<sample.body.count {
            #expect(throws: FetchError.truncated(sample.coding), "cut at \(count)") {
                try decoded(Array(sample.body.prefix(count)), sample.encoding)
            }
        }
    }

    @Test func `a body of several parts that is cut within any of them is truncated`() {
        let member = Deflated.gzip(EncodedSample.text)
        let frame = Zstandard.compressed(EncodedSample.text)
        let skipped = EncodedSample.skipped([1, 2, 3])
        for count in 1..<member.count {
            #expect(throws: FetchError.truncated(.gzip)) { try decoded(member + member.prefix(count), "gzip") }
        }
        for count in 1..<frame.count {
            #expect(throws: FetchError.truncated(.zstd)) { try decoded(frame + frame.prefix(count), "zstd") }
        }
        for count in 1..<skipped.count {
            #expect(throws: FetchError.truncated(.zstd)) { try decoded(frame + skipped.prefix(count), "zstd") }
        }
    }

    @Test func `the error about a cut body names the encoding that was cut`() throws {
        let inner = Deflated.gzip(EncodedSample.text)
        #expect(throws: FetchError.truncated(.gzip)) { try decoded(Brotli.compressed(inner.dropLast()), "gzip", "br") }
        #expect(throws: FetchError.truncated(.brotli)) { try decoded(Brotli.compressed(inner).dropLast(), "gzip", "br") }
    }
}
