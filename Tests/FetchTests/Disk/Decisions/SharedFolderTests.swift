import GannetTestKit
import Testing

@testable import GannetFetch

/// Several processes share one folder, simulated without the folder.
struct SharedFolderTests {
    private struct Model {
        var shards = [[EntryName: ColdFiles.File]](repeating: [:], count: 256)
        var total: Int64 = 0
        var files = 0
        var evictedAges: [Int64] = []
        var time: Int64 = 0

        func count(_ shard: UInt8) -> ShardCount {
            var count = ShardCount()
            for file in shards[Int(shard)].values {
                count.bytes += file.bytes
                count.files += 1
                count.cold.see(file)
            }
            return count
        }

        mutating func add(_ name: EntryName, _ cost: Int64) {
            time += 1
            shards[Int(name.shard)][name] = .init(name: name, bytes: cost, used: time)
            total += cost
            files += 1
        }

        mutating func remove(_ file: ColdFiles.File) {
            guard let entry = shards[Int(file.name.shard)].removeValue(forKey: file.name) else { return }
            total -= entry.bytes
            files -= 1
            evictedAges.append(time - entry.used)
        }
    }

    /// Writes `count` files of the process whose turn it is.
    private static func write(
        _ count: Int, _ processes: inout [FolderState], _ model: inout Model, _ random: inout SeededBytes, size: Int64,
        highest: inout Int64
    ) {
        for _ in 0..<count {
            let process = Int(random.next() % UInt64(processes.count))
            // A few are very large.
            let cost = FolderState.cost(ofSize: random.next() % 100 == 0 ? 10 * size : size)
            let name = EntryName(random.next(count: 16))
            var steps = 0
            making: while steps < 4000 {
                steps += 1
                switch processes[process].step(toFit: cost) {
                case .enough: break making
                case .count(let shard): processes[process].counted(shard, model.count(shard))
                case .remove(let file):
                    model.remove(file)
                    processes[process].removed(file.bytes, from: file.name.shard)
                }
            }
            model.add(name, cost)
            processes[process].added(cost, to: name.shard, replacing: nil)
            processes[process].release(cost)
            if processes[process].isCountWanted() {
                let shard = processes[process].nextCount()
                processes[process].counted(shard, model.count(shard))
                while let file = processes[process].removalToLimit() {
                    model.remove(file)
                    processes[process].removed(file.bytes, from: file.name.shard)
                }
            }
            highest = max(highest, model.total)
        }
    }

    /// Processes that have looked at the folder while it was empty.
    private static func processes(_ count: Int, limit: Int64, files: Int = 1_000_000, _ seed: UInt64) -> [FolderState] {
        (0..<UInt64(count)).map { number in
            var random = SeededBytes(seed: seed &+ number)
            var process = FolderState(limit: limit, maximumFiles: files, random: &random)
            while process.isCountWanted() { process.counted(process.nextCount(), ShardCount()) }
            return process
        }
    }

    @Test(arguments: [1, 10], [UInt64.random(in: 0 ... .max)])
    func `processes that fill a folder together stay near the limit, and old files go first`(count: Int, seed: UInt64) {
        let limit: Int64 = 12_000_000
        var processes = Self.processes(count, limit: limit, seed)
        var model = Model()
        var random = SeededBytes(seed: seed)
        var highest: Int64 = 0
        Self.write(2500, &processes, &model, &random, size: 8000, highest: &highest)
        #expect(highest > limit * 9 / 10 && highest < limit * 12 / 10, "seed \(seed)")

        model.evictedAges = []
        highest = 0
        Self.write(1000, &processes, &model, &random, size: 8000, highest: &highest)
        #expect(model.total > limit * 9 / 10 && highest < limit * 11 / 10, "seed \(seed)")
        // A file used longest ago has as many others behind it as there are files.
        let ages = model.evictedAges.sorted()
        #expect(ages[ages.count / 100] > Int64(model.files) * 8 / 10, "seed \(seed)")
        #expect(ages[ages.count * 99 / 100] < Int64(model.files) * 12 / 10, "seed \(seed)")
    }

    @Test(arguments: [UInt64.random(in: 0 ... .max)]) func `the number of files has a limit as well`(seed: UInt64) {
        var processes = Self.processes(2, limit: 1 << 40, files: 1000, seed)
        var model = Model()
        var random = SeededBytes(seed: seed)
        var highest: Int64 = 0
        Self.write(2500, &processes, &model, &random, size: 100, highest: &highest)
        #expect((900...1100).contains(model.files), "seed \(seed): \(model.files)")
    }

    @Test func `one large file is not taken for two hundred and fifty-six`() {
        var sum = SharedSum(limit: 1000)
        sum.count(7, as: 500)
        #expect(sum.estimate == 500 && !sum.isCounted)
        for shard in 0...UInt8.max where shard != 7 { sum.count(shard, as: 0) }
        #expect(sum.estimate == 500 && sum.isCounted)
    }

    @Test func `additions before the first count of a shard are not counted twice`() {
        var sum = SharedSum(limit: 1_000_000)
        for shard in 0...UInt8.max { sum.add(10, to: shard) }
        #expect(sum.estimate == 2560)
        for shard in 0...UInt8.max {
            sum.count(shard, as: 10)
            #expect(sum.estimate == 2560, "shard \(shard)")
        }
        sum.add(30, to: 1, replacing: 10)
        sum.remove(30, from: 1)
        sum.remove(30, from: 1)
        #expect(sum.estimate == 2550)
    }

    @Test func `of many files the coldest are known`() {
        var cold = ColdFiles()
        let names = (0..<5000).map { EntryName(DiskFixture.bytes(16, seed: UInt64($0))) }
        for (number, name) in names.enumerated().shuffled() { cold.see(.init(name: name, bytes: 1, used: Int64(number))) }
        cold.trim()
        let popped = (0..<5000).compactMap { _ in cold.popColdest()?.used }
        #expect(popped == (0..<Int64(ColdFiles.capacity)).map { $0 })
    }
}
