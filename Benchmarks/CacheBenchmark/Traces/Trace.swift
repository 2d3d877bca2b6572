import GannetTestKit
import Glibc

/// Requests for keys, one after the other.
struct Trace {
    let name: String
    let requests: [UInt32]
    let keyCount: Int

    init(_ name: String, _ requests: [UInt32]) {
        self.name = name
        self.requests = requests
        keyCount = Int(requests.max() ?? 0) + 1
    }

    /// Sizes as those of pages and images: half are below 20 kB, a few are hundreds of times as large; none above 5 MB.
    func variableCosts() -> [Int] {
        var random = SeededBytes(seed: 7)
        return (0..<keyCount).map { _ in
            let normal = sqrt(-2 * log(1 - random.unit())) * cos(2 * .pi * random.unit())
            return Int(min(max(20_000 * exp(1.5 * normal), 200), 5_000_000))
        }
    }
}

extension Trace {
    static func zipf(_ alpha: Double, requests: Int) -> Trace {
        var random = SeededBytes(seed: 1)
        let keys = Zipf(1_000_000, alpha: alpha)
        return Trace("Zipf, alpha \(alpha)", (0..<requests).map { _ in keys.next(&random) })
    }

    /// 20,000 keys in use, and now and then as many requests for keys that are asked for once.
    static func scans(requests: Int) -> Trace {
        var random = SeededBytes(seed: 2)
        var fresh: UInt32 = 20_000
        return Trace(
            "20,000 keys in use, scans between",
            (0..<requests).map { number in
                guard number / 100_000 % 2 == 1 else { return UInt32.random(in: 0..<20_000, using: &random) }
                fresh += 1
                return fresh
            })
    }

    static func zipfWithScans(requests: Int) -> Trace {
        var random = SeededBytes(seed: 3)
        let keys = Zipf(1_000_000, alpha: 1)
        var fresh: UInt32 = 1_000_000
        return Trace(
            "Zipf, alpha 1.0, a third of it scans",
            (0..<requests).map { number in
                guard number % 150_000 >= 100_000 else { return keys.next(&random) }
                fresh += 1
                return fresh
            })
    }

    /// Half of the requests follow Zipf. The others are for keys that are requested up to three more times, soon, and never again. A small
    /// queue of a fixed size is bad at this.
    static func bursts(requests: Int) -> Trace {
        var random = SeededBytes(seed: 4)
        let keys = Zipf(1_000_000, alpha: 0.9)
        var fresh: UInt32 = 1_000_000
        // The keys to request again, by the number of the request.
        var returns: [[UInt32]] = Array(repeating: [], count: requests)
        return Trace(
            "half Zipf, alpha 0.9, half bursts",
            (0..<requests).map { number in
                if let key = returns[number].popLast() {
                    if number + 1 < requests { returns[number + 1] += returns[number] }
                    return key
                }
                guard random.unit() < 0.5 else { return keys.next(&random) }
                fresh += 1
                for _ in 0..<random.next() % 4 {
                    let later = number + 1 + Int(-log(1 - random.unit()) * 20_000)
                    if later < requests { returns[later].append(fresh) }
                }
                return fresh
            })
    }

    /// Half of the requests follow Zipf; the others go round and round through 60,000 keys.
    static func circles(requests: Int) -> Trace {
        var random = SeededBytes(seed: 5)
        let keys = Zipf(1_000_000, alpha: 0.9)
        var turn: UInt32 = 0
        return Trace(
            "half Zipf, alpha 0.9, half a circle of 60,000",
            (0..<requests).map { _ in
                guard random.unit() < 0.5 else { return keys.next(&random) }
                turn += 1
                return 1_000_000 + turn % 60_000
            })
    }
}
