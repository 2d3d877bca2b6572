import Testing

@testable import GannetCommand

@Suite struct FingerprintTests {
    @Test func `rows that differ have names that differ, also where their texts run together alike`() {
        let rows = [[], [""], ["", ""], ["a"], ["a", ""], ["", "a"], ["ab"], ["a", "b"], ["b", "a"], ["1:a"], ["1", "a"], ["1:a1:b"]]
        #expect(Set(rows.map(Fingerprint.of)).count == rows.count)
        #expect(Fingerprint.of(["a", "b"]) == Fingerprint.of(["a", "b"]))
    }

    @Test func `a name is fit for a key`() {
        let name = Fingerprint.of(["/tmp/ü {x}"])
        #expect(name.count == 24)
        #expect(name.allSatisfy { $0.isHexDigit })
    }
}
