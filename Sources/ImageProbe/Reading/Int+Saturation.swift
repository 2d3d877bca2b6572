/// Sums and products of numbers that a stranger chose, none of them negative. What would overflow becomes `max`: an offset that every check against
/// the end of the bytes refuses.
extension Int {
    func plus(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }

    func times(_ other: Int) -> Int {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? .max : product
    }
}
