@testable import GannetQueue

/// The rules that a partition's state keeps at any moment.
extension StateLook {
    static let mostSuspects = 8
    /// The weight of a URL that two workers died with.
    static let alone = 9

    /// The weight of an incarnation's suspects.
    func suspects(of incarnation: Bytes) -> Int {
        holders[incarnation]?[Bytes("suspects".utf8)].flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0
    }

    /// Whether a worker takes no more jobs, before or while it fetches a URL that two workers died with.
    func isHeldBack(_ incarnation: Bytes, in queue: String) -> Bool {
        queues[queue]?.counters["alone"] == incarnation || suspects(of: incarnation) == Self.alone
    }

    /// How many jobs of each batch of a queue lie in the places of one counter.
    private struct Tally {
        var active: [Int: Int] = [:], parked: [Int: Int] = [:], delayed: [Int: Int] = [:], ready: [Int: Int] = [:]
    }

    /// One sentence for each broken rule.
    var problems: [String] {
        var problems = (unreadable + doubled).map { "\($0) cannot be read" }
        func need(_ holds: Bool, _ sentence: @autoclosure () -> String) { if !holds { problems.append(sentence()) } }
        var tallies: [String: Tally] = [:]
        var running: [String: Int] = [:]

        for (incarnation, fields) in holders {
            need(leases[incarnation] ?? 0 > 0, "a process without a lease holds something")
            var (weight, jobs) = (0, 0)
            for (field, value) in fields {
                if field.count == 16 {
                    let lock = locks[field]
                    need(lock?.kind.isHeld == true && lock?.incarnation == incarnation, "a process holds a URL that is not locked by it")
                    // The death of a caller without a job is charged to nobody.
                    if let lock, lock.kind == "L" { (weight, jobs) = (weight + lock.weight, jobs + 1) }
                } else if field.count == 17, field[0] == Self.placeField {
                    running[String(decoding: value, as: UTF8.self), default: 0] += 1
                } else if field.count == 17, field[0] == Self.deliveryField {
                    guard let delivery = Self.delivery(value) else {
                        problems.append("a delivery cannot be read")
                        continue
                    }
                    tallies[delivery.queue, default: Tally()].active[delivery.jobs.batch, default: 0] += 1
                    need(delivery.jobs.flags == 0, "a delivered job has a follower's flags")
                }
            }
            let noted = suspects(of: incarnation)
            need(
                weight <= Self.mostSuspects || weight == Self.alone && jobs == 1,
                "a worker holds suspects of the weight \(weight) among \(jobs) jobs")
            // The suspects of a dead worker stay noted until all that the worker held is taken back.
            let isDead = leases[incarnation].map { $0 <= Double(lived) } ?? true
            need(weight == noted || weight < noted && isDead, "a worker has suspects of the weight \(weight), and \(noted) is noted")
        }
        for (id, lock) in locks {
            if lock.kind.isHeld { need(holders[lock.incarnation]?[id] != nil, "a lock has no holder") }
            if let block = lock.job {
                tallies[lock.queue, default: Tally()].active[block.batch, default: 0] += 1
                need(block.jobs.count == 1 && block.jobs[0].id == id && block.flags == 0, "a lock has another URL's job")
                if lock.hasOwnPlace { running[block.host, default: 0] += 1 }
            } else {
                need(lock.kind != "L", "a lock has no job")
            }
            if lock.kind == "W" {
                need(
                    lock.followers.contains { queues[$0.queue]?.looks(at: id) != nil },
                    "nobody looks at a URL that waits for its next attempt")
            }
        }
        for (name, queue) in queues { check(name, queue, &tallies[name, default: Tally()], &problems) }
        for (name, host) in hosts {
            need(host.running == running.removeValue(forKey: name) ?? 0, "\(name) counts \(host.running) requests")
        }
        need(running.isEmpty, "requests are under way at hosts without a record: \(running)")
        return problems
    }

    /// Requests under way, by host.
    var running: [String: Int] { hosts.mapValues(\.running).filter { $0.value > 0 } }

    private func check(_ name: String, _ queue: Queue, _ tally: inout Tally, _ problems: inout [String]) {
        func need(_ holds: Bool, _ sentence: @autoclosure () -> String) { if !holds { problems.append("queue \(name): " + sentence()) } }
        for (priority, blocks) in queue.ready {
            for block in blocks {
                tally.ready[block.batch, default: 0] += block.jobs.count
                need(block.flags == 0, "a ready block has a follower's flags")
                if let number = queue.batches[block.batch]?["priority"].flatMap({ Int($0) }) {
                    need(Self.priorities[number - 1] == priority, "a block of another priority is among the \(priority) ones")
                }
            }
        }
        for (place, elements) in queue.aside {
            let parts = place.split(separator: ":", maxSplits: 1).map(String.init)
            if parts[1] != "?" {
                need(queue.timers[parts[0]]?[Bytes("h\(parts[1])".utf8)] != nil, "jobs stand aside at \(parts[1]) without a timer")
            }
            for case (let block?, _) in elements {
                tally.ready[block.batch, default: 0] += block.jobs.count
                need(block.host == parts[1], "a block stands aside at another host")
            }
        }
        for (place, blocks) in queue.delayed {
            let parts = place.split(separator: ":").map(String.init)
            let at = queue.timers[parts[0]]?[Bytes("d\(parts[1])".utf8)]
            if blocks.isEmpty { need(at != nil, "the place of deleted jobs with a delay has no timer") }
            var last = 0
            for block in blocks {
                tally.delayed[block.batch, default: 0] += block.jobs.count
                let due = block.enqueued + (Int(parts[1]) ?? 0)
                need(at ?? .infinity <= Double(due), "a block that is due at \(due) has a timer at \(at as Any)")
                need(last <= due, "a delayed block stands behind one that is due later")
                last = due
            }
        }
        for (id, blocks) in queue.followers {
            let at = queue.looks(at: id)
            let timers = queue.timers.values.count { $0[[UInt8(ascii: "u")] + id] != nil }
            need(timers == 1, "followers have \(timers) timers")
            for block in blocks {
                need(block.jobs.count == 1 && block.jobs[0].id == id, "a follower follows another URL")
                switch block.flags {
                case 0: tally.parked[block.batch, default: 0] += 1
                case 16: tally.delayed[block.batch, default: 0] += 1
                default: tally.ready[block.batch, default: 0] += 1
                }
            }
            if at == .infinity { need(queue.isAside(id), "followers of a URL that does not stand aside would wait for ever") }
        }
        for (priority, timers) in queue.timers {
            for (member, at) in timers {
                let rest = Array(member.dropFirst())
                switch member.first {
                case UInt8(ascii: "h"):
                    let host = String(decoding: rest, as: UTF8.self)
                    need(queue.aside["\(priority):\(host)"] != nil, "a host without jobs aside has a timer")
                    need(at >= Double(Keys.hostsBehind), "a host's timer stands among those of URLs")
                case UInt8(ascii: "u"):
                    need(
                        queue.followers[rest] != nil || at < .infinity || queue.isAside(rest) || locks[rest]?.kind.isHeld == true,
                        "a URL without followers has a timer for ever")
                default:
                    let name = String(decoding: rest, as: UTF8.self)
                    need(queue.delayed["\(priority):\(name)"] != nil || at == 0, "a delay without jobs has a timer")
                }
            }
        }
        checkCounters(queue, tally, need)
    }

    private func checkCounters(_ queue: Queue, _ tally: Tally, _ need: (Bool, @autoclosure () -> String) -> Void) {
        var sums: [String: Int] = [:]
        for (number, fields) in queue.batches {
            func count(_ name: String) -> Int { fields[name].flatMap { Int($0) } ?? 0 }
            for name in ["active", "parked", "delayed", "done", "failed", "cancelled"] { sums[name, default: 0] += count(name) }
            need(tally.active[number, default: 0] == count("active"), "batch \(number) counts \(count("active")) active jobs")
            // The jobs of a cancelled batch have ended, and lie where they were until somebody meets them.
            if queue.isOver(number) { continue }
            let ready = ["done", "failed", "cancelled", "active", "parked", "delayed"].reduce(count("total")) { $0 - count($1) }
            need(tally.parked[number, default: 0] == count("parked"), "batch \(number) counts \(count("parked")) parked jobs")
            need(tally.delayed[number, default: 0] == count("delayed"), "batch \(number) counts \(count("delayed")) delayed jobs")
            need(
                tally.ready[number, default: 0] == ready,
                "batch \(number) counts \(ready) ready jobs, and there are \(tally.ready[number, default: 0])")
        }
        for name in ["active", "parked", "delayed"] {
            need(
                sums[name, default: 0] == queue.count(name),
                "the queue counts \(queue.count(name)) \(name) jobs, and its batches \(sums[name, default: 0])")
        }
    }
}
