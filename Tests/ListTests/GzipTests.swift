import GannetTestKit
import Testing

@testable import Lists

@Suite struct GzipTests {
    private let text = "# a list\nhttp://a/\nhttp://b/\n"

    @Test(arguments: [1, 2, 3, 7, 1000])
    func `a compressed list of any kind is read like the list itself`(size: Int) throws {
        let rows = [Row.url(2, "http://a/"), .url(3, "http://b/")]
        #expect(try Listed.rows(Deflated.gzip(Array(text.utf8)), cut: size) == rows)
        #expect(try Listed.rows(Deflated.gzip(Array("url,x\nhttp://a/,1\nhttp://b/,2\n".utf8)), cut: size) == rows)
    }

    @Test(arguments: [1, 2, 3, 7, 1000])
    func `several members are one list, and zeros behind them are ignored`(size: Int) throws {
        let bytes = text.utf8.map { Deflated.gzip([$0]) }.joined() + [UInt8](repeating: 0, count: 100)
        #expect(try Listed.rows(Array(bytes), cut: size) == [.url(2, "http://a/"), .url(3, "http://b/")])
    }

    @Test func `compression that ends in the middle is reported, wherever it ends`() throws {
        let bytes = Deflated.gzip(Array(text.utf8))
        for count in 1..<bytes.count {
            #expect(throws: ListError.truncatedCompression) { try Listed.rows(Array(bytes.prefix(count))) }
        }
    }

    @Test func `damaged compression is reported`() throws {
        var bytes = Deflated.gzip(Array(text.utf8))
        bytes[bytes.count - 6] ^= 1
        #expect(throws: ListError.badCompression("incorrect data check")) { try Listed.rows(bytes) }
        #expect(throws: ListError.badCompression("something else follows it")) {
            try Listed.rows(Deflated.gzip(Array(text.utf8)) + Array("more".utf8))
        }
        #expect(throws: ListError.badCompression("incorrect header check")) { try Listed.rows([0x1F, 0x41, 0x42, 0x43]) }
        #expect(throws: ListError.other("compressed with gzip twice")) { try Listed.rows(Deflated.gzip(Deflated.gzip(Array(text.utf8)))) }
    }

    @Test func `a bomb is taken apart a window at a time`() throws {
        let line = Array(("http://a/" + String(repeating: "a", count: 1000) + "\n").utf8)
        let bytes = Deflated.gzip(repeated(line, 20_000))
        let reader = ListReader(ListOptions())
        var (rows, calls) = (0, 0)
        try bytes.withUnsafeBytes { buffer in
            var rest = buffer
            var hasMore = true
            while hasMore {
                var batch = RowBatch()
                hasMore = try reader.read(&rest, into: &batch)
                #expect(batch.count < 1000)
                rows += batch.count
                calls += 1
            }
        }
        var batch = RowBatch()
        try reader.finish(into: &batch)
        #expect(rows + batch.count == 20_000)
        #expect(calls > 50)
    }
}
