/// Of ten jobs six are of high, three of normal and one of low priority while there are some of each.
///
/// Redis keeps the number, so a new priority comes behind the others. `Scripts/Library/jobs.lua` has the names of the numbers.
package enum Priority: String, Sendable, CaseIterable {
    case high, normal, low

    /// As Redis has it.
    package var number: Int { (Self.allCases.firstIndex(of: self) ?? 0) + 1 }

    init?(number: Int) {
        guard (1...Self.allCases.count).contains(number) else { return nil }
        self = Self.allCases[number - 1]
    }
}
