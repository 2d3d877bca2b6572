import Crawl
import GannetBase
import GannetHTTP
import GannetQueue

// Structs without a clock that decide when something is worth telling.

/// Bounds how many messages of one kind are printed: some at first, a few in each minute after that, and a count of the rest.
/// Ten thousand lines about one dead host help nobody.
struct ComplaintLimit: Sendable {
    enum Word: Equatable {
        case tell
        /// Tell, and say first how many were not told.
        case tellAfter(Int)
        case keep
    }

    private let aMinute: Int
    private var windowBegan: ContinuousClock.Instant?
    private var left: Int
    private var untold = 0

    private static let window = Duration.seconds(60)

    init(atFirst: Int, aMinute: Int) {
        left = atFirst
        self.aMinute = aMinute
    }

    mutating func note(at now: ContinuousClock.Instant) -> Word {
        let began = windowBegan ?? now
        windowBegan = began
        if now - began >= Self.window {
            windowBegan = now
            left = aMinute
        }
        guard left > 0 else {
            untold += 1
            return .keep
        }
        left -= 1
        return rest().map(Word.tellAfter) ?? .tell
    }

    /// The messages that were not told since this was asked last.
    mutating func rest() -> Int? {
        defer { untold = 0 }
        return untold > 0 ? untold : nil
    }
}

/// Decides whether an outage of Redis is told: each one, unless there is one after the other.
struct OutageWords: Sendable {
    private(set) var isAway = false
    private var isTold = false
    private var limit = ComplaintLimit(atFirst: 5, aMinute: 1)

    /// - Returns: `nil` where Redis was away already.
    mutating func began(at now: ContinuousClock.Instant) -> ComplaintLimit.Word? {
        if isAway { return nil }
        isAway = true
        let word = limit.note(at: now)
        isTold = word != .keep
        return word
    }

    /// - Returns: Whether people have been told that Redis was away.
    mutating func ended() -> Bool {
        defer { (isAway, isTold) = (false, false) }
        return isTold
    }
}

/// A total that is told once a minute while it grows, and at the end.
struct RareCount: Sendable {
    private(set) var total = 0
    private var told = 0
    private var toldAt: ContinuousClock.Instant?

    private static let pause = Duration.seconds(60)

    /// - Returns: The total, where it is time to tell it.
    mutating func add(_ count: Int, at now: ContinuousClock.Instant) -> Int? {
        total += count
        if let toldAt, now - toldAt < Self.pause { return nil }
        toldAt = now
        return rest()
    }

    /// The total, unless all of it was told.
    mutating func rest() -> Int? {
        guard total > told else { return nil }
        told = total
        return total
    }
}

/// Notices that a queue has lost accepted jobs: its totals only grow, while Redis keeps its data.
struct LossWatch: Sendable {
    private var accepted = 0
    private(set) var losses = 0

    /// - Returns: The earlier total, where the queue knows of fewer jobs now.
    mutating func note(accepted now: Int) -> Int? {
        let before = accepted
        accepted = now
        guard now < before else { return nil }
        losses += 1
        return before
    }
}

/// Notices that slow hosts hold nearly all of a worker's places while as many other jobs wait for one.
struct PlacesWatch: Sendable {
    /// Requests that the worker makes at once at most.
    let places: Int

    private var since: ContinuousClock.Instant?

    /// A request that takes this long is a slow one.
    private static let slow = Duration.seconds(5)
    private static let share = 0.9
    /// A shorter time may be chance.
    private static let patience = Duration.seconds(5)

    init(places: Int) { self.places = places }

    /// - Parameter waiting: Jobs that could be taken if there were a place.
    /// - Returns: How many places slow hosts have held for some seconds; `nil` where they hold few, or few jobs wait.
    mutating func look(at activity: ActivitySnapshot, waiting: Int, now: ContinuousClock.Instant) -> Int? {
        let held = activity.hosts.filter { $0.slowness >= Self.slow }.reduce(0) { $0 + $1.running }
        guard places > 0, waiting >= places, Double(held) >= Double(places) * Self.share else {
            since = nil
            return nil
        }
        let began = since ?? now
        since = began
        return now - began >= Self.patience ? min(held, places) : nil
    }
}

/// Says that URLs wait for the proxy or a name server: at once, and then once a minute while they do. The counts do not show it,
/// since nothing fails. It also says once that nothing has come through the proxy so far: perhaps that failed, and no host.
final class NetworkWatch: Sendable {
    static let pause = Duration.seconds(60)

    private let console: Console
    private let proxy: RedactedURL?
    private let patience: Duration
    private let told = Mutex<[String: ContinuousClock.Instant]>([:])
    /// Failures through the proxy before its first success; nil after that.
    private let failures = Mutex<Int?>(0)

    /// So many failures are no accident of one URL.
    private static let fewFailures = 3

    /// - Parameters:
    ///   - proxy: Its address, where there is one.
    ///   - patience: How long each URL is put off; zero for ever.
    init(_ console: Console, proxy: String? = nil, patience: Duration = .zero) {
        self.console = console
        self.proxy = proxy.map { RedactedURL(address: $0) }
        self.patience = patience
    }

    func note(_ report: WorkerReport) {
        var line: String?
        switch report {
        case .putOff(_, let error, _):
            line = self.line(about: error, at: .now) ?? doubt(after: error.description, error.className)
        case .failed(_, let sentence, let errorClass): line = doubt(after: sentence, errorClass)
        case .fetched, .revalidated: failures.withLock { $0 = nil }
        default: break
        }
        if let line { console.warn(line) }
    }

    /// The message after the first few failures; nil for other failures, and where the proxy has served a request.
    func doubt(after sentence: String, _ errorClass: String) -> String? {
        guard let proxy, let kind = FetchError.Kind(className: errorClass), !kind.retry.lacksNetwork else { return nil }
        let count = failures.withLock { failures in
            // An answer such as 404 is the host's.
            failures = kind.retry.mayPass ? failures.map { $0 + 1 } : nil
            return failures
        }
        guard count == Self.fewFailures else { return nil }
        return "none of the first \(Self.fewFailures) requests through the proxy \(proxy) has succeeded. The last one: \(sentence) "
            + "Perhaps the proxy has answered so, or not at all; '--proxy' names another."
    }

    /// The message; `nil` when it was told less than a minute ago, or nothing is missing.
    func line(about error: FetchError, at now: ContinuousClock.Instant) -> String? {
        guard let part = error.missingPart else { return nil }
        let isDue = told.withLock { told in
            if let last = told[part], now - last < Self.pause { return false }
            told[part] = now
            return true
        }
        guard isDue else { return nil }
        let bound = patience > .zero ? " for \(Amounts.time(patience)) at most" : ""
        return "waiting for \(part) (\(error.detail)): URLs are put off\(bound), which uses up no retry"
    }
}

extension FetchError {
    /// The part of the network that this machine lacks, if that is the reason. The URL is not at fault.
    var missingPart: String? { retry.lacksNetwork ? kind == .dns(.nobodyAnswers) ? "a name server" : "the proxy" : nil }
}
