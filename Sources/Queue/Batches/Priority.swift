/// While all three have jobs, six of ten claimed jobs are high, three are normal and one is low.
///
/// Redis keeps the number, so a new priority comes behind the others. `Scripts/Parts/blocks.lua` has the names of the numbers.
package enum Priority: String, Sendable, CaseIterable {
    case high, normal, low

    /// The number that stands for the priority in Redis.
    package var number: Int { (Self.allCases.firstIndex(of: self) ?? 0) + 1 }

    init?(number: Int) {
        guard (1...Self.allCases.count).contains(number) else { return nil }
        self = Self.allCases[number - 1]
    }
}
