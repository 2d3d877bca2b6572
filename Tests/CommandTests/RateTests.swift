import Testing

@testable import GannetCommand

@Suite struct RateTests {
    @Test(arguments: [
        ("1", 1000), ("2", 500), ("0.5", 2000), (".5", 2000), ("2.", 500), ("1000", 1), ("0.001", 1_000_000), ("3", 334), ("400", 3),
    ])
    func `a rate is the time from one request to the next, and never a shorter one`(text: String, milliseconds: Int) throws {
        #expect(try ValueType.rate.parse(text) == .milliseconds(milliseconds))
    }

    @Test(arguments: ["", "0", "-1", "+1", "1e3", "1001", "0.0009", "1/2", "1,5", ".", "1.2.3", "inf", "nan", "0x10", "٣"])
    func `a text that is not a rate is refused`(text: String) {
        #expect(throws: UsageError.self) { try ValueType.rate.parse(text) }
    }
}
