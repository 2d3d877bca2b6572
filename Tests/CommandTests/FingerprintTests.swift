import Lists
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

    @Test func `the options of a list have the text of the version before, whatever is carried`() {
        var options = ListOptions()
        #expect(options.fingerprint == "ListOptions(format: nil, column: nil, idColumn: nil, field: nil, unpacks: true)")
        (options.format, options.column, options.carried) = (.csv, "a \"b\"", [CarriedColumn("text")])
        #expect(
            options.fingerprint
                == #"ListOptions(format: Optional(Lists.ListFormat.csv), column: Optional("a \"b\""), idColumn: nil, field: nil, unpacks: true)"#
        )
    }
}
