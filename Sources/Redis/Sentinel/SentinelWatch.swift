internal import GannetBase

/// The newest word of Sentinels about their primary. All connections of a process to the same Sentinels share one watch.
///
/// ```
///  each Sentinel ── +switch-master ─▶ it is asked again ─▶ the word with the highest epoch ─▶ connections to another server leave it
///  each look-up asks all ────────────────────────────────────────▲
/// ```
///
/// Without a watch a connection learns of a failover from its server alone: it goes, or says that it is a replica now. A server that hung says
/// neither. When it goes on, it takes writes until the Sentinels reach it, and those writes are lost.
final class SentinelWatch: Sendable {
    private let address: SentinelAddress
    private let configuration: RedisConfiguration
    private let news: SentinelNews
    private let tasks: [Task<Void, Never>]

    private init(_ address: SentinelAddress, _ configuration: RedisConfiguration) {
        self.address = address
        self.configuration = configuration
        let news = SentinelNews()
        self.news = news
        tasks = address.sentinels.map { sentinel in
            Task { await Self.follow(SentinelQuestion(sentinel, address, configuration), news) }
        }
    }

    deinit { for task in tasks { task.cancel() } }

    /// The primary by the newest word; `nil` before the first one.
    var primary: SentinelAddress.Host? { news.word?.primary }

    /// Wakes a connection's thread when ``primary`` changes, until `forget(_:)`.
    func tell(_ wakeup: Wakeup) { news.add(wakeup) }

    func forget(_ wakeup: Wakeup) { news.remove(wakeup) }

    /// Asks all Sentinels at once, because some may be away. The first word counts that is no older than the newest known one. Where all are
    /// older, the Sentinels were set up anew, and the newest of theirs counts.
    func ask() async -> Result<SentinelAddress.Host, RedisError> {
        let known = news.word
        let (newest, failures) = await answers { $0.epoch >= known?.epoch ?? 0 }
        if let newest {
            news.set(newest, inPlaceOf: known)
            return .success(newest.primary)
        }
        guard failures.count == address.sentinels.count, let first = failures.first else {
            return .failure(.unknownPrimary(address.primary))
        }
        return .failure(.noSentinelAnswers(first))
    }

    /// The word with the highest epoch until one is `enough`, and the errors of the Sentinels that do not answer.
    private func answers(
        until enough: @escaping (SentinelWord) -> Bool
    ) async -> (newest: SentinelWord?, failures: [RedisError]) {
        await withTaskGroup(of: Result<SentinelWord?, RedisError>.self) { group in
            for sentinel in address.sentinels {
                group.addTask { [address, configuration] in
                    do throws(RedisError) {
                        return .success(try await SentinelQuestion(sentinel, address, configuration).ask())
                    } catch {
                        return .failure(error)
                    }
                }
            }
            var (newest, failures): (SentinelWord?, [RedisError]) = (nil, [])
            for await answer in group {
                switch answer {
                case .success(let word?):
                    if word.epoch >= newest?.epoch ?? 0 { newest = word }
                    if enough(word) { group.cancelAll() }
                case .success(nil): break
                case .failure(let error): failures.append(error)
                }
            }
            return (newest, failures)
        }
    }

    private static func follow(_ question: SentinelQuestion, _ news: SentinelNews) async {
        let backoff = Backoff(first: .milliseconds(100), longest: .seconds(5))
        var failures = 0
        while !Task.isCancelled {
            if let subscriber = try? await question.subscriber(),
                let subscription = try? await subscriber.subscribe(to: [SentinelQuestion.channel])
            {
                failures = 0
                // The failovers before the subscription, too.
                await hear(question, news)
                for await event in subscription where question.isConcerned(by: event) { await hear(question, news) }
            }
            // It is away, or lets this user not subscribe.
            try? await Task.sleep(for: backoff.pause(after: failures, random: .random(in: 0...1)))
            failures += 1
        }
    }

    private static func hear(_ question: SentinelQuestion, _ news: SentinelNews) async {
        if let word = (try? await question.ask()) ?? nil { news.hear(word) }
    }
}

extension SentinelWatch {
    private struct Weak {
        weak var watch: SentinelWatch?
    }

    private static let watches = Mutex<[Weak]>([])

    /// The watch over the Sentinels of an address.
    static func over(_ address: SentinelAddress, _ configuration: RedisConfiguration) -> SentinelWatch {
        watches.withLock { watches in
            watches.removeAll { $0.watch == nil }
            let same = watches.lazy.compactMap(\.watch).first {
                $0.address == address && $0.configuration.credentials == configuration.credentials
                    && $0.configuration.tls == configuration.tls
            }
            if let same { return same }
            let new = SentinelWatch(address, configuration)
            watches.append(Weak(watch: new))
            return new
        }
    }
}
