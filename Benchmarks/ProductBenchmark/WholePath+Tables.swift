import BenchmarkKit
import GannetTestKit

extension WholePath {
    /// Speed, processor time and memory of the workers, beside curl's.
    func printPath(_ courses: [Course]) {
        table(
            "The whole path: 10 KB bodies kept in Redis, 64 in flight from all workers together where nothing else is said", "origin",
            "workers", "URLs", "gannet", "`curl -Z`", "gannet / `curl -Z`", "worker's CPU a job", "curl's CPU a URL", "worker / curl",
            "a worker's memory")
        for course in courses {
            let count = Double(course.count)
            row(
                course.name, "\(course.workers.count)", grouped(course.count), rates(course.rounds.map { count / $0.gannet.seconds }),
                course.curlRates,
                shown(course.curl { curl, round in curl.seconds / round.gannet.seconds }, hundredths),
                time(course.each(\.gannet.cpuTime.microseconds)), shown(course.curl { curl, _ in curl.cpuTime.microseconds / count }, time),
                shown(course.curl { curl, round in round.gannet.cpuTime / curl.cpuTime }, tenths),
                "\(Int(course.median { Double($0.gannet.peakMemory) } / 1_000_000)) MB")
        }
    }

    /// The cost of a job for Redis.
    func printRedis(_ courses: [Course]) {
        table(
            "Redis in the same runs, beside `LMOVE`+`SET`+`LPOP` for as many jobs on the same server", "origin", "workers", "CPU a job",
            "`LMOVE`+`SET`+`LPOP`", "ratio", "a `SET` of 10 KB", "ratio without it", "script calls a job", "commands a job",
            "jobs a script call, mean")
        for course in courses {
            row(
                course.name, "\(course.workers.count)", time(course.each(\.gannet.redis.cpuTime.microseconds)),
                time(course.each(\.queue.microseconds)), tenths(course.median { $0.gannet.redis.cpuTime / $0.queue }),
                time(course.each(\.bodies.microseconds)), tenths(course.median { ($0.gannet.redis.cpuTime - $0.bodies) / $0.queue }),
                hundredths(course.each { Double($0.gannet.redis.statistics.scriptCalls) }),
                tenths(course.each { Double($0.gannet.redis.statistics.calls) }),
                hundredths(course.median { jobsPerCall(course.count, $0.gannet.redis.statistics) }))
        }
    }

    /// How full the places are.
    func printLate(_ courses: [Course]) {
        table(
            "Places at an origin with a latency: the possible is places ÷ latency", "origin", "gannet", "of the possible", "`curl -Z`",
            "of the possible")
        for course in courses {
            guard let possible = course.possible else { continue }
            let gannet = course.perSecond(\.gannet.seconds)
            let curl = course.curl { curl, _ in Double(course.count) / curl.seconds }
            row(course.name, rate(gannet), hundredths(gannet / possible), shown(curl, rate), shown(curl) { hundredths($0 / possible) })
        }
    }

    /// The commands that Redis counted in the last round of a course, also those of scripts.
    func printCommands(_ course: Course) {
        guard let last = course.rounds.last else { return }
        table(
            "Redis' commands in the first of these runs (\(course.name), workers: \(course.workers.count)); the time of a script holds that of its commands",
            "command", "calls a job",
            "time a job")
        let commands = last.gannet.redis.statistics.commands.filter { $0.value.calls * 100 >= course.count }
        for (name, entry) in commands.sorted(by: { ($1.value.calls, $0.key) < ($0.value.calls, $1.key) }) {
            row(
                "`\(name)`", hundredths(Double(entry.calls) / Double(course.count)), time(Double(entry.microseconds) / Double(course.count))
            )
        }
    }

    private func shown(_ value: Double?, _ format: (Double) -> String) -> String { value.map(format) ?? "–" }
}
