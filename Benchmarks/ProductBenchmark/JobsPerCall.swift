import BenchmarkKit
import GannetTestKit

/// How many jobs a script call of a worker carries. Redis counts the calls of all scripts together, so only the mean is known: a program that counts
/// its calls by their size would be asked here.
func jobsPerCall(_ jobs: Int, _ statistics: CommandStatistics) -> Double {
    Double(jobs) / Double(max(1, statistics.scriptCalls))
}

extension CommandStatistics {
    var scriptCalls: Int { commands.reduce(0) { $0 + ($1.key.hasPrefix("eval") ? $1.value.calls : 0) } }

    var calls: Int { scriptCalls + callsInScripts }
}
