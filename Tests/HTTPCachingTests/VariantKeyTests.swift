import HTTPEngine
import Testing

@testable import HTTPCaching

@Suite struct VariantKeyTests {
    @Test func `names are in small letters, in order, each once, and without that of encodings`() throws {
        #expect(try SelectingHeaders(["X-B, accept-ENCODING", "x-a,, X-b"]).names == ["x-a", "x-b"])
        #expect(try SelectingHeaders([]) == .none)
        #expect(try SelectingHeaders(["", " , "]) == .none)
        #expect(try SelectingHeaders(["Accept-Encoding"]) == .none)
    }

    @Test(arguments: ["*", "a, *", "a b", "a:", "\"a\"", "é", String(repeating: "a", count: 257)])
    func `what may mean anything is a problem`(value: String) {
        #expect(throws: SelectingHeaders.Problem.anything) { try SelectingHeaders([value]) }
    }

    @Test func `sixteen names are not too many`() throws {
        let names = (1...17).map { "x-\($0)" }
        let sixteen = try SelectingHeaders([names.dropLast().joined(separator: ",")])
        #expect(sixteen.names.count == 16)
        #expect(try sixteen.union(SelectingHeaders(["x-1"])) == sixteen)
        #expect(throws: SelectingHeaders.Problem.tooMany) { try SelectingHeaders(names) }
        #expect(throws: SelectingHeaders.Problem.tooMany) { try sixteen.union(SelectingHeaders(["x-17"])) }
    }

    @Test func `the key is empty where nothing selects and a digest where something does`() throws {
        let header = HTTPLines.fields(["Authorization: secret"])
        #expect(VariantKey(.none, request: header) == .only)
        #expect(VariantKey.only.bytes == [])
        #expect(VariantKey(try SelectingHeaders(["authorization"]), request: header).bytes.count == 16)
    }

    @Test func `no two lists of values have one key`() throws {
        let selecting = try SelectingHeaders(["a, b"])
        let requests: [[String]] = [
            [], ["A:"], ["B:"], ["A:", "B:"], ["A: 1"], ["B: 1"], ["A: 1", "B: 1"], ["A: 11"], ["B: 11"], ["A: 1,1"], ["A: 1", "B:"],
            ["A: b"], ["A: b1"],
        ]
        #expect(Set(requests.map { VariantKey(selecting, request: HTTPLines.fields($0)) }).count == requests.count)
    }

    @Test func `the key does not change from one version to the next`() throws {
        let key = VariantKey(try SelectingHeaders(["Accept-Language"]), request: HTTPLines.fields(["Accept-Language: de, en"]))
        // printf '\0\0\0\0\0\0\0\17accept-language\1\0\0\0\0\0\0\0\5de,en' | sha256sum
        #expect(
            key.bytes == [
                0x50, 0x94, 0x7d, 0x74, 0x7f, 0xdc, 0x23, 0xe6, 0x52, 0x83, 0x37, 0x46, 0x92, 0xc1, 0xac, 0x75,
            ])
    }
}
