import Testing

@testable import GannetHTTP

@Suite struct VariantKeyTests {
    /// The headers that lines of `Vary` name.
    private func selecting(_ lines: [String]) throws -> SelectingHeaders {
        let names = try #require(SelectingHeaders.names(in: lines))
        return try #require(SelectingHeaders(names))
    }

    @Test func `names are in small letters, sorted, each once, and without Accept-Encoding`() throws {
        #expect(try selecting(["X-B, accept-ENCODING", "x-a,, X-b"]).names == ["x-a", "x-b"])
        #expect(try selecting([]) == .none)
        #expect(try selecting(["", " , "]) == .none)
        #expect(try selecting(["Accept-Encoding"]) == .none)
    }

    @Test(arguments: ["*", "a, *", "a b", "a:", "\"a\"", "é", String(repeating: "a", count: 257)])
    func `a value that may mean anything names nothing`(value: String) {
        #expect(SelectingHeaders.names(in: [value]) == nil)
    }

    @Test func `sixteen names are not too many`() throws {
        let names = (1...17).map { "x-\($0)" }
        let sixteen = try selecting([names.dropLast().joined(separator: ",")])
        #expect(sixteen.names.count == 16)
        #expect(SelectingHeaders(sixteen.names + ["x-1"]) == sixteen)
        #expect(SelectingHeaders(names) == nil)
    }

    @Test func `the key is empty where no header selects, and a digest otherwise`() throws {
        let header = HTTPLines.fields(["Authorization: secret"])
        #expect(VariantKey(.none, request: header) == .only)
        #expect(VariantKey.only.bytes == [])
        #expect(VariantKey(try selecting(["authorization"]), request: header).bytes.count == 16)
    }

    @Test func `no two lists of values have one key`() throws {
        let selecting = try selecting(["a, b"])
        let requests: [[String]] = [
            [], ["A:"], ["B:"], ["A:", "B:"], ["A: 1"], ["B: 1"], ["A: 1", "B: 1"], ["A: 11"], ["B: 11"], ["A: 1,1"], ["A: 1", "B:"],
            ["A: b"], ["A: b1"],
        ]
        #expect(Set(requests.map { VariantKey(selecting, request: HTTPLines.fields($0)) }).count == requests.count)
    }

    @Test func `the key does not change from one version to the next`() throws {
        let key = VariantKey(try selecting(["Accept-Language"]), request: HTTPLines.fields(["Accept-Language: de, en"]))
        // printf '\0\0\0\0\0\0\0\17accept-language\1\0\0\0\0\0\0\0\5de,en' | sha256sum
        #expect(
            key.bytes == [
                0x50, 0x94, 0x7d, 0x74, 0x7f, 0xdc, 0x23, 0xe6, 0x52, 0x83, 0x37, 0x46, 0x92, 0xc1, 0xac, 0x75,
            ])
    }
}
