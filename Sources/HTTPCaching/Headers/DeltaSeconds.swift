/// A number of seconds as headers give it (RFC 9111, section 1.2.2).
enum DeltaSeconds {
    /// What stands for any number beyond it: 68 years, which RFC 9111 calls infinity.
    static let forever: Int64 = 2_147_483_648

    /// Nil for anything that is not digits alone: no sign, no fraction, no unit.
    static func parse(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        // More digits than a number can have are many seconds too.
        return Int64(text).map { min($0, forever) } ?? forever
    }
}
