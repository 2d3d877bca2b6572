import Glibc

/// Figures as a table shows them.
package func grouped(_ number: Int) -> String {
    let digits = String(number)
    var groups: [Substring] = []
    var end = digits.endIndex
    while end > digits.startIndex {
        let start = digits.index(end, offsetBy: -3, limitedBy: digits.startIndex) ?? digits.startIndex
        groups.insert(digits[start..<end], at: 0)
        end = start
    }
    return groups.joined(separator: ",")
}

package func rate(_ perSecond: Double) -> String {
    let step = perSecond < 1000 ? 1.0 : perSecond < 10_000 ? 10 : 100
    return grouped(Int((perSecond / step).rounded() * step)) + "/s"
}

/// The median of several rounds, with the lowest and the highest of them.
package func rates(_ perSecond: [Double]) -> String {
    let spread = [perSecond.min() ?? 0, perSecond.max() ?? 0].map { rate($0).dropLast(2) }
    return "\(rate(perSecond.median)) (\(spread[0]) to \(spread[1]))"
}

package func tenths(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(grouped(tenths / 10)).\(tenths % 10)"
}

package func hundredths(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
}

/// A short time, in the unit that suits it.
package func time(_ microseconds: Double) -> String {
    switch microseconds {
    case ..<10: tenths(microseconds) + " µs"
    case ..<1000: "\(Int(microseconds.rounded())) µs"
    case ..<1_000_000: tenths(microseconds / 1000) + " ms"
    default: tenths(microseconds / 1_000_000) + " s"
    }
}

package func seconds(_ duration: Duration) -> String { time(duration / .microseconds(1)) }

/// Prints the head of a table, with a line about it above.
package func table(_ title: String, _ columns: String...) { table(title, columns) }

/// The same with columns that are put together at run time.
package func table(_ title: String, _ columns: [String]) {
    print("\n\(title)\n\n| \(columns.joined(separator: " | ")) |")
    print("|\(String(repeating: " --- |", count: columns.count))")
}

/// Prints a row at once: whoever waits sees how far it is.
package func row(_ cells: String...) { row(cells) }

/// The same with cells that are put together at run time.
package func row(_ cells: [String]) {
    print("| \(cells.joined(separator: " | ")) |")
    fflush(nil)
}

extension [Double] {
    /// The value that this part of them does not exceed.
    package func percentile(_ part: Double) -> Double {
        isEmpty ? 0 : sorted()[Swift.min(count - 1, Int(Double(count) * part))]
    }
}
