import Crawl
import GannetHTTP
import GannetQueue

// Structs without a clock that decide when something is worth telling.

/// Bounds how many messages of one kind are printed: some at first, a few in each minute after that, and a count of the rest.
/// Ten thousand lines about one dead host help nobody.
struct ComplaintLimit: Sendable {
    private let aMinute: Int
    private var windowBegan: ContinuousClock.Instant?
    private var left: Int
    private var untold = 0

    private static let window = Duration.seconds(60)

    init(atFirst: Int, aMinute: Int) {
        left = atFirst
        self.aMinute = aMinute
    }

    /// - Returns: How many messages before this one were not told; `nil` where this one is not told either.
    mutating func note(at now: ContinuousClock.Instant) -> Int? {
        let began = windowBegan ?? now
        windowBegan = began
        if now - began >= Self.window {
            windowBegan = now
            left = aMinute
        }
        guard left > 0 else {
            untold += 1
            return nil
        }
        left -= 1
        return rest()
    }

    /// How many messages were not told since this was asked last.
    mutating func rest() -> Int {
        defer { untold = 0 }
        return untold
    }
}

/// Tells each thing at once, and then once a minute at most.
struct MinuteLimit: Sendable {
    private var told: [String: ContinuousClock.Instant] = [:]

    private static let pause = Duration.seconds(60)

    mutating func mayTell(_ thing: String, at now: ContinuousClock.Instant) -> Bool {
        if let last = told[thing], now - last < Self.pause { return false }
        told[thing] = now
        return true
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
    /// - Returns: How many of all places slow hosts have held for some seconds; `nil` where they hold few, or few jobs wait.
    mutating func look(at activity: ActivitySnapshot, waiting: Int, now: ContinuousClock.Instant) -> (held: Int, all: Int)? {
        let held = activity.hosts.filter { $0.slowness >= Self.slow }.reduce(0) { $0 + $1.running }
        guard places > 0, waiting >= places, Double(held) >= Double(places) * Self.share else {
            since = nil
            return nil
        }
        let began = since ?? now
        since = began
        return now - began >= Self.patience ? (min(held, places), places) : nil
    }
}

/// Says that URLs wait for the proxy or a name server: at once, and then once a minute while they do. The counts do not show it,
/// since nothing fails. It also says once that nothing has come through the proxy so far: perhaps that failed, and no host.
struct NetworkWatch: Sendable {
    private let proxy: RedactedURL?
    private let patience: Duration
    private var limit = MinuteLimit()
    /// Failures through the proxy before its first success; nil after that.
    private var failures: Int? = 0
    /// The part that was missing for the last request that failed, when that was, and when it was so first.
    private var last: (part: String, time: ContinuousClock.Instant, first: ContinuousClock.Instant)?

    /// So many failures are no accident of one URL.
    private static let fewFailures = 3
    /// A URL is put off for ten seconds at most while a part of the network is missing.
    private static let pause = Duration.seconds(15)

    /// - Parameters:
    ///   - proxy: Its address, where there is one.
    ///   - patience: How long each URL is put off; zero for ever.
    init(proxy: String? = nil, patience: Duration = .zero) {
        self.proxy = proxy.map { RedactedURL(address: $0) }
        self.patience = patience
    }

    /// The part of the network that is missing, and until the first URL is given up for that.
    func missing(at now: ContinuousClock.Instant) -> (part: String, end: Duration?)? {
        guard let last, now - last.time < Self.pause else { return nil }
        return (last.part, patience > .zero ? patience - (now - last.first) : nil)
    }

    /// - Returns: A message that is due.
    mutating func note(_ report: WorkerReport, at now: ContinuousClock.Instant) -> String? {
        switch report {
        case .putOff(_, let error, _):
            let before = last
            last = error.missingPart.map { ($0, now, before?.part == $0 ? before?.first ?? now : now) }
            return line(about: error, at: now) ?? doubt(after: error.description, error.className)
        case .failed(_, let sentence, let errorClass): return doubt(after: sentence, errorClass)
        case .hostFull: last = nil
        case .fetched, .revalidated: (last, failures) = (nil, nil)
        default: break
        }
        return nil
    }

    /// The message after the first few failures; nil for other failures, and where the proxy has served a request.
    mutating func doubt(after sentence: String, _ errorClass: String) -> String? {
        guard let proxy, let kind = FetchError.Kind(className: errorClass), !kind.retry.lacksNetwork else { return nil }
        // An answer such as 404 is the host's.
        failures = kind.retry.mayPass ? failures.map { $0 + 1 } : nil
        guard failures == Self.fewFailures else { return nil }
        return "none of the first \(Self.fewFailures) requests through the proxy \(proxy) has succeeded. The last one: \(sentence) "
            + "Perhaps the proxy has answered so, or not at all; '--proxy' names another."
    }

    /// The message; `nil` when it was told less than a minute ago, or nothing is missing.
    mutating func line(about error: FetchError, at now: ContinuousClock.Instant) -> String? {
        guard let part = error.missingPart, limit.mayTell(part, at: now) else { return nil }
        let bound = patience > .zero ? " for \(Amounts.time(patience)) at most" : ""
        return "waiting for \(part) (\(error.detail)): URLs are put off\(bound), which uses up no retry"
    }
}

extension FetchError {
    /// The part of the network that this machine lacks, if that is the reason. The URL is not at fault.
    fileprivate var missingPart: String? { retry.lacksNetwork ? kind == .dns(.nobodyAnswers) ? "a name server" : "the proxy" : nil }
}
