import GannetTestKit
import Testing

@testable import GannetHTTP

@Suite(.timeLimit(.minutes(2))) struct WholeBodyTests {
    @Test(arguments: EncodedSample.all)
    func `a body decodes to its content, wherever it is cut in two`(sample: EncodedSample) throws {
        for position in 0...sample.body.count {
            #expect(try decoded(sample.body, [sample.encoding], pieces: [position]) == sample.content)
        }
        #expect(try decoded(sample.body, [sample.encoding], pieces: sample.body.map { _ in 1 }) == sample.content)
    }

    @Test(arguments: ["gzip", "zlib", "bare", "br", "zstd"], [65535, 65536, 65537, 131072, 1_000_000])
    func `a large body decodes to its content in pieces of any size`(kind: String, size: Int) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededBytes(seed: seed)
        // Half of it can be compressed.
        let content = random.next(count: size / 2) + Array(repeating: 7, count: size - size / 2)
        let (name, body) =
            switch kind {
            case "gzip": ("gzip", Deflated.gzip(content))
            case "zlib": ("deflate", Deflated.zlib(content))
            case "bare": ("deflate", Deflated.raw(content))
            case "br": ("br", Brotli.compressed(content))
            default: ("zstd", Zstandard.compressed(content))
            }
        let sizes = (0..<1000).map { _ in Int(random.next() % 5000) }
        #expect(try decoded(body, [name], pieces: sizes) == content, "seed \(seed)")
        #expect(try decoded(body, name) == content, "seed \(seed)")
    }

    @Test func `a file that gzip wrote, with its name in the header, decodes to its content`() async throws {
        let folder = try TemporaryFolder()
        let content = Array("named, dated and compressed\n".utf8)
        let file = try folder.write(content, to: "original")
        try await ChildProcess.succeed("gzip", [file])
        #expect(try decoded(try contents(ofFile: file + ".gz"), "gzip") == content)
    }

    @Test func `encodings on top of each other are undone from the last to the first`() throws {
        let content = EncodedSample.text
        let body = Zstandard.compressed(Brotli.compressed(Deflated.gzip(content)))
        #expect(try decoded(body, "gzip", "br", "zstd") == content)
        #expect(try decoded(body, ["gzip", "identity", "br", "", "zstd"], pieces: body.map { _ in 1 }) == content)
    }

    @Test func `a body that is not encoded passes as it is`() throws {
        #expect(try decoded([1, 2, 3], "identity", "") == [1, 2, 3])
        #expect(try decoded([1, 2, 3]) == [1, 2, 3])
    }

    @Test(arguments: ["gzip", "deflate", "br", "zstd"])
    func `a body without a byte is whole, as curl and browsers have it`(encoding: String) throws {
        #expect(try decoded([], encoding) == [])
        #expect(try decoded([], encoding, "gzip") == [])
    }

    @Test func `an unknown encoding, or one too many, is refused by name before any byte comes`() {
        #expect(throws: FetchError.unknownEncoding("compress")) { try decoded([], "gzip", "compress") }
        #expect(throws: FetchError.unknownEncoding("GZIP")) { try decoded([], "GZIP") }
        #expect(throws: FetchError.tooManyEncodings(4)) { try decoded([], "gzip", "br", "gzip", "identity", "zstd") }
        #expect(FetchError.unknownEncoding("\u{1b}x").description.contains("\\u{1b}x-encoded"))
    }
}
