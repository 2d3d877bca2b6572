internal import GannetBase

/// The record of a URL that is being fetched, or that waits for its next attempt. `Scripts/Parts/locks.lua` describes the bytes.
package struct URLLock: Sendable, Equatable {
    package enum Kind: UInt8, Sendable {
        /// A worker fetches the URL for a job.
        case worker = 0x4c
        /// A caller without a job fetches the URL.
        case program = 0x41
        /// Nobody fetches the URL: a job waits for its next attempt.
        case retry = 0x57
    }

    enum Flags {
        static let suspect = 1, moved = 2, noPlace = 8
    }

    /// Somebody who waits for the URL.
    enum Interested: Sendable, Equatable {
        case queue(String, Priority)
        case channel(String)
    }

    package let kind: Kind
    let token: LockToken
    /// When the fetch began, or when the next attempt may begin, in queue time.
    package internal(set) var began: Int
    /// In lease time.
    let deadline: Int
    /// Workers that died with the URL, and failed attempts that are charged to it.
    package let crashes: Int
    package let failures: Int
    let flags: Int
    /// Since when the URL's host puts it off; zero for a URL that was not put off.
    let throttled: Int
    /// The job's queue; empty for a lock without a job.
    package let queue: String
    let failure: ArraySlice<UInt8>
    var interested: [Interested]
    let job: ArraySlice<UInt8>

    /// `nil` for a lock that cannot be read, and for one whose names are no text. Its bytes would be others than those in Redis.
    package init?(_ bytes: some Collection<UInt8>) {
        var reader = ByteReader(Array(bytes))
        guard let kind = reader.byte().flatMap(Kind.init), let token = reader.bytes(LockToken.count).flatMap({ LockToken($0) }),
            let began = reader.number(6), let deadline = reader.number(6), let crashes = reader.number(1), let failures = reader.number(1),
            let flags = reader.number(1), let throttled = reader.number(6), let length = reader.number(2), let part = reader.bytes(length)
        else { return nil }
        var extras = ByteReader(part)
        guard let queue = extras.number(1).flatMap({ extras.bytes($0) }).flatMap({ String(validating: $0, as: UTF8.self) }),
            let failure = extras.number(2).flatMap({ extras.bytes($0) })
        else { return nil }
        interested = []
        while !extras.isAtEnd {
            guard let one = Self.interested(&extras) else { return nil }
            interested.append(one)
        }
        self.kind = kind
        self.token = token
        self.began = began
        self.deadline = deadline
        self.crashes = crashes
        self.failures = failures
        self.flags = flags
        self.throttled = throttled
        self.queue = queue
        self.failure = failure
        job = reader.all()
        if kind == .worker, Block(job) == nil { return nil }
    }

    private static func interested(_ reader: inout ByteReader) -> Interested? {
        guard let kind = reader.byte(), let length = reader.number(1), let bytes = reader.bytes(length), let first = bytes.first,
            let name = String(validating: bytes, as: UTF8.self)
        else { return nil }
        if kind == UInt8(ascii: "c") { return .channel(name) }
        guard kind == UInt8(ascii: "q"), let priority = Priority(number: Int(first) - Int(UInt8(ascii: "0"))) else { return nil }
        return .queue(String(decoding: bytes.dropFirst(), as: UTF8.self), priority)
    }
}

extension URLLock {
    /// A worker died with the URL, and no attempt has ended since.
    package var isSuspect: Bool { flags & Flags.suspect != 0 }

    /// The number of the job's batch.
    package var batch: Int? { queue.isEmpty ? nil : Block(job)?.batch }

    /// How the last attempt ended.
    package var lastFailure: OutcomeContent? { OutcomeContent(failure) }

    /// The queues that have followers of the URL, and the priority under which each has its timer.
    var followers: [(queue: String, priority: Priority)] {
        interested.compactMap { if case .queue(let queue, let priority) = $0 { (queue, priority) } else { nil } }
    }

    /// The queues of the followers and of the job that holds the URL.
    package var queues: [String] { followers.map(\.queue) + (queue.isEmpty ? [] : [queue]) }

    package var bytes: [UInt8] {
        var extras = [UInt8(queue.utf8.count)] + queue.utf8
        extras.append(number: failure.count, count: 2)
        extras += failure
        for one in interested {
            let (kind, name) =
                switch one {
                case .queue(let queue, let priority): ("q", "\(priority.number)\(queue)")
                case .channel(let channel): ("c", channel)
                }
            extras += Array(kind.utf8) + [UInt8(name.utf8.count)] + name.utf8
        }
        var bytes = [kind.rawValue] + token.bytes
        for (number, count) in [(began, 6), (deadline, 6), (crashes, 1), (failures, 1), (flags, 1), (throttled, 6), (extras.count, 2)] {
            bytes.append(number: number, count: count)
        }
        return bytes + extras + job
    }
}
