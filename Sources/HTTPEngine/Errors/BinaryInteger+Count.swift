extension BinaryInteger {
    /// `1 byte`, `2 bytes`.
    func of(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
