import BenchmarkKit

/// The share of requests, and of requested bytes, that each policy serves from its cache.
enum HitRates {
    static func measure(isQuick: Bool) {
        let requests = isQuick ? 500_000 : 5_000_000
        let traces: [(() -> Trace, [Int])] = [
            ({ .zipf(0.8, requests: requests) }, [10_000, 100_000]),
            ({ .zipf(1, requests: requests) }, [10_000, 100_000]),
            ({ .scans(requests: requests) }, [30_000]),
            ({ .zipfWithScans(requests: requests) }, [10_000, 100_000]),
            ({ .bursts(requests: requests) }, [10_000, 30_000]),
            ({ .circles(requests: requests) }, [30_000, 100_000]),
        ]
        table(
            "Hits in 100 requests, all entries of one size; \(grouped(requests)) requests, 1,000,000 keys and more", "requests", "room for",
            "LRU",
            "S3-FIFO as published", "MemoryCache", "the best possible")
        for (make, rooms) in traces {
            let trace = make()
            for entries in rooms {
                let rates = rates(trace, costs: Array(repeating: 1, count: trace.keyCount), costLimit: entries)
                let best = Double(mostHits(trace, entries: entries)) / Double(requests)
                row(trace.name, grouped(entries), percent(rates[0].hits), percent(rates[1].hits), percent(rates[2].hits), percent(best))
            }
        }
        table(
            "The same with sizes from 200 bytes to 5 MB, half of them below 20 kB: hits in 100 requests · in 100 bytes", "requests",
            "room for", "LRU",
            "S3-FIFO as published", "MemoryCache")
        for (make, rooms) in traces {
            let trace = make()
            let costs = trace.variableCosts()
            let mean = costs.reduce(0, +) / costs.count
            for entries in rooms {
                let rates = rates(trace, costs: costs, costLimit: entries * mean).map { percent($0.hits) + " · " + percent($0.bytes) }
                row(trace.name, "\(grouped(entries * mean / 1_000_000)) MB", rates[0], rates[1], rates[2])
            }
        }
    }

    private static func rates(_ trace: Trace, costs: [Int], costLimit: Int) -> [(hits: Double, bytes: Double)] {
        [
            rate(LeastRecentlyUsed(costLimit: costLimit, keyCount: trace.keyCount), trace, costs),
            rate(PublishedS3FIFO(costLimit: costLimit, keyCount: trace.keyCount), trace, costs),
            rate(OurCache(costLimit: costLimit), trace, costs),
        ]
    }

    private static func rate(_ policy: some Policy, _ trace: Trace, _ costs: [Int]) -> (hits: Double, bytes: Double) {
        var policy = policy
        var (hits, bytes, allBytes) = (0, 0, 0)
        for key in trace.requests {
            let cost = costs[Int(key)]
            allBytes += cost
            guard policy.request(key, cost: cost) else { continue }
            hits += 1
            bytes += cost
        }
        return (Double(hits) / Double(trace.requests.count), Double(bytes) / Double(allBytes))
    }

    private static func percent(_ part: Double) -> String { tenths(part * 100) }
}
