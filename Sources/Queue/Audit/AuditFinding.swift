/// A difference between the state and its rules, found by an audit.
package struct AuditFinding: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        // Leases and locks.
        case leaseWithoutExpiry, flightWithoutLock, lockWithoutFlight, retryWithoutJob
        // Lists of jobs that nothing leads to.
        case parkedWithoutFlight, heldNotDue
        case hostCount
        // Outcomes that name a body which Redis does not have.
        case outcomeWithoutBody, bodyEvicted
        // Counters of queues and batches; accepted jobs that are in no list, and jobs that were never counted.
        case counter, jobsLost, jobsUncounted
        /// A batch that a partition no longer knows. Nobody can tell what it had.
        case batchPartLost
        /// Counters and clocks that are no numbers.
        case counterDamaged, clockDamaged
        /// Jobs and locks that cannot be read.
        case recordDamaged
        /// Keys of the whole namespace are gone, or those of partitions that the schema does not name are there.
        case schemaLost, partitionUnknown, homeLost
        /// A key holds a value of another type. Only the program that wrote the key can know what to do.
        case wrongType
        /// A part is too large for one step, or this user may not read it.
        case notChecked
    }

    package let kind: Kind
    package var count: Int

    /// One case in words. The text names hosts, queues and the first bytes of URLs' ids, never a URL or a token.
    package let example: String

    /// The audit has mended the difference.
    package let isMended: Bool
}

extension AuditFinding.Kind {
    /// Whether an audit that mends can mend this kind.
    package var isMendable: Bool {
        switch self {
        case .leaseWithoutExpiry, .flightWithoutLock, .lockWithoutFlight, .retryWithoutJob, .parkedWithoutFlight, .heldNotDue, .hostCount,
            .outcomeWithoutBody, .bodyEvicted, .counter, .jobsLost, .jobsUncounted:
            true
        case .batchPartLost, .counterDamaged, .clockDamaged, .recordDamaged, .schemaLost, .partitionUnknown, .homeLost, .wrongType,
            .notChecked:
            false
        }
    }

    /// False for what comes with a limit for bodies. It is a note, and does not count as a finding that is left.
    package var isDrift: Bool { self != .bodyEvicted }

    /// The consequence for the person who runs the audit.
    package var meaning: String {
        switch self {
        case .leaseWithoutExpiry: "The jobs of a dead worker would never have come back."
        case .flightWithoutLock: "A worker was taken to hold more URLs than it does. They do no other harm."
        case .lockWithoutFlight: "Nobody fetches these URLs, and jobs for them would wait. They are fetched again, uncharged."
        case .retryWithoutJob: "No job waits for these attempts. A program that asks for such a URL would get its last failure."
        case .parkedWithoutFlight: "These jobs would have waited for ever. They go on with the next exchange."
        case .heldNotDue: "The jobs of these lists would have waited for ever. They go on with the next exchange."
        case .hostCount: "Too high a count keeps a host's jobs waiting; too low a one lets more requests start than its limit."
        case .outcomeWithoutBody: "Redis has lost the bodies. Without these outcomes the next jobs for the URLs fetch them again."
        case .bodyEvicted: "Their bodies made room for others, or were lost. The next jobs for the URLs fetch them again in any case."
        case .counter: "'status' and 'batch show' have shown wrong totals; workers may have ended too early or too late."
        case .jobsLost:
            "Redis has lost them, or a call was refused on its way. They count as failed from now on, so that nobody waits: enqueue their list again under another batch name."
        case .jobsUncounted:
            "They are in lists and not in the totals, which count them from now on. After a call that was refused on its way, a job may be in two lists."
        case .batchPartLost:
            "A server has lost them. The totals of these batches are too low: enqueue their lists again under the same names."
        case .counterDamaged:
            "Another program has written to them, and their queue or the bodies may stand still. Set each with 'redis-cli HSET KEY FIELD NUMBER', or remove it with "
                + "'redis-cli HDEL KEY FIELD', which counts as none. Then 'gannet doctor --fix' compares the counters with the jobs."
        case .recordDamaged:
            "Another program has written to them, and nothing stops because of them. Workers drop such jobs, which count as missing, and a new fetch of the URL "
                + "replaces such a lock."
        case .clockDamaged:
            "Another program has written to it, and nothing goes on in its partition. Put back a copy of the server's data. Or enqueue the lists again in "
                + "another namespace, which '--namespace' names."
        case .schemaLost:
            "Redis has lost the key, or another program has removed it. It holds the number of partitions. End all workers and producers, and set "
                + "it to '\(ClusterState.schema)/N', or '\(ClusterState.schema)/N/spread' where a Redis Cluster was used from the beginning. N is what "
                + "'--partitions' said when the namespace was first used; without that it is 1, or 16 on a Redis Cluster. Then run 'gannet doctor' again."
        case .partitionUnknown:
            "Nobody finds their jobs. The namespace had more partitions, until Redis lost its schema and a program used it with the usual number. End "
                + "all workers and producers, and put the former number of partitions into the schema, behind its '/'. Then run 'gannet doctor' again."
        case .homeLost:
            "The server of partition 0 has lost the records of queues and batches that it keeps for all partitions. Jobs of the others are still fetched. "
                + "Put back a copy of that server's data, or enqueue the lists again under the same names: what was fetched is not fetched again."
        case .wrongType: "Another program writes to this namespace. Find out what the key is for, and delete it by hand if nobody needs it."
        case .notChecked:
            "They are too large for one step, or this user may not read them. Check again when fewer jobs wait."
        }
    }
}

extension AuditFinding {
    /// The findings of this kind, as they stand behind their number.
    package var noun: String {
        let isOne = count == 1
        return switch kind {
        case .leaseWithoutExpiry: isOne ? "lease that would never end" : "leases that would never end"
        case .flightWithoutLock: isOne ? "URL that was being fetched without a lock" : "URLs that were being fetched without a lock"
        case .lockWithoutFlight: isOne ? "lock of a URL that nobody fetches" : "locks of URLs that nobody fetches"
        case .retryWithoutJob: isOne ? "attempt to come for which no job waits" : "attempts to come for which no job waits"
        case .parkedWithoutFlight:
            isOne ? "list of jobs that waited for a fetch that does not exist" : "lists of jobs that waited for a fetch that does not exist"
        case .heldNotDue:
            isOne ? "list of waiting jobs that nobody would have looked at" : "lists of waiting jobs that nobody would have looked at"
        case .hostCount: isOne ? "host with a wrong count of requests in flight" : "hosts with a wrong count of requests in flight"
        case .outcomeWithoutBody: isOne ? "outcome whose body is not in Redis" : "outcomes whose bodies are not in Redis"
        case .bodyEvicted: isOne ? "outcome whose body is no longer in Redis" : "outcomes whose bodies are no longer in Redis"
        case .counter: isOne ? "wrong counter" : "wrong counters"
        case .jobsLost: isOne ? "accepted job that is missing from the queue" : "accepted jobs that are missing from the queue"
        case .jobsUncounted: isOne ? "job that was missing from the totals" : "jobs that were missing from the totals"
        case .batchPartLost: isOne ? "batch of which a part is lost" : "batches of which parts are lost"
        case .counterDamaged: isOne ? "counter that is no number" : "counters that are no numbers"
        case .recordDamaged: isOne ? "record that cannot be read" : "records that cannot be read"
        case .clockDamaged: isOne ? "clock of a partition that is no clock" : "clocks of partitions that are no clocks"
        case .schemaLost: "schema that is gone while partitions are there"
        case .partitionUnknown: isOne ? "partition that the schema does not name" : "partitions that the schema does not name"
        case .homeLost: isOne ? "queue that partition 0 has lost" : "queues that partition 0 has lost"
        case .wrongType: isOne ? "key that holds a value of another type" : "keys that hold a value of another type"
        case .notChecked: isOne ? "part of the state that could not be checked" : "parts of the state that could not be checked"
        }
    }
}
