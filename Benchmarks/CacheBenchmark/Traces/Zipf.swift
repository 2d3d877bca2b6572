import GannetTestKit
import Glibc

/// Keys of which the n-th is asked for in proportion to 1/n^alpha, as pages and images of a site are.
struct Zipf {
    /// How likely a key is one of the first so many.
    private let cumulated: [Double]

    init(_ count: Int, alpha: Double) {
        var sum = 0.0
        let sums = (1...count).map { number in
            sum += 1 / pow(Double(number), alpha)
            return sum
        }
        cumulated = sums.map { $0 / sum }
    }

    func next(_ random: inout SeededBytes) -> UInt32 {
        let wanted = random.unit()
        var (low, high) = (0, cumulated.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if cumulated[middle] < wanted { low = middle + 1 } else { high = middle }
        }
        return UInt32(low)
    }
}

extension SeededBytes {
    /// From zero to less than one.
    mutating func unit() -> Double { Double(next() >> 11) / 9_007_199_254_740_992 }
}
