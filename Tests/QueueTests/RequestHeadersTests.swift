import Testing

@testable import GannetQueue

@Suite struct RequestHeadersTests {
    @Test func `headers are read as they were written, and a part of the bytes is refused`() throws {
        let headers = try RequestHeaders([.init(name: "A", value: "é, b"), .init(name: "a", value: ""), .init(name: "B", value: "x")])
        let bytes = headers.bytes
        #expect(RequestHeaders(bytes) == headers)
        #expect(RequestHeaders.none.bytes.isEmpty && RequestHeaders([UInt8]()) == RequestHeaders.none)
        for count in 1..<bytes.count {
            let part = RequestHeaders(Array(bytes[..<count]))
            #expect(part == nil || part!.lines.count < headers.lines.count)
        }
        #expect(RequestHeaders([2] + bytes.dropFirst()) == nil)
        #expect(RequestHeaders([1, 0, 1, 0xff, 0, 0]) == nil)
    }

    @Test func `too many headers are refused, and so are headers that are too long together`() throws {
        let line = RequestHeaders.Line(name: "a", value: "")
        #expect(throws: Never.self) { try RequestHeaders(Array(repeating: line, count: 64)) }
        #expect(throws: StateError.self) { try RequestHeaders(Array(repeating: line, count: 65)) }
        let long = { RequestHeaders.Line(name: "a", value: String(repeating: "v", count: $0)) }
        #expect(throws: Never.self) { try RequestHeaders([long(8191), long(8191)]) }
        #expect(throws: StateError.self) { try RequestHeaders([long(8191), long(8192)]) }
    }

    @Test func `no value of a header is printed`() throws {
        let headers = try RequestHeaders([.init(name: "Cookie", value: "s3cret")])
        var dumped = ""
        dump(headers, to: &dumped)
        for text in ["\(headers)", String(reflecting: headers), dumped, "\(headers.lines)", "\([headers])"] {
            #expect(text.contains("Cookie") && !text.contains("s3cret"), "\(text)")
        }
    }
}
