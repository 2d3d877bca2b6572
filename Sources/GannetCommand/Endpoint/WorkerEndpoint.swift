import Crawl
internal import GannetBase
import GannetQueue
import Server

/// Answers over HTTP whether a worker lives, whether it can work, and what it has done.
final class WorkerEndpoint: Sendable {
    /// The worker, as soon as it has its Redis.
    struct Subject: Sendable {
        let cluster: ClusterState
        let queue: String
        let options: WorkerOptions
        /// Bytes of Redis' memory for bodies; `nil` where they are files.
        let bodyLimit: Int?
        let tally: WorkTally
        let interruption: Interruption
    }

    /// How it stands with a worker's readiness.
    enum Readiness: Sendable, Equatable {
        case ready
        case not(String)
    }

    private struct Sources: Sendable {
        let subject: Subject
        let readiness: FreshValue<Readiness>
        let queue: FreshValue<QueueFigures>
    }

    /// Set when there is something to look at, by another thread than those that answer.
    private final class Watched: Sendable {
        let sources = Mutex<Sources?>(nil)
    }

    private let watched: Watched
    private let service: HTTPService
    private let url: String
    private let console: Console

    /// How long Redis may take for one look.
    static let lookBound = Duration.seconds(2)
    /// A server of a cluster that hangs is waited for, and then the others are counted.
    private static let figuresBound = Duration.seconds(4)
    /// A look, and a wait for one that others had begun.
    private static let answerBound = Duration.seconds(6)
    /// A process whose tasks have not run for so long is stuck.
    private static let livingBound = Duration.seconds(5)
    /// Connections of probes and scrapers in all, and of one address: a client that holds connections open keeps no other's probe out.
    private static let mostConnections = 128
    private static let mostOfOne = 16

    /// Listens at once; until ``watch(_:)`` it is not ready.
    init(_ address: ListenAddress, console: Console) throws(CommandFailure) {
        let watched = Watched()
        do throws(HTTPServiceFailure) {
            var options = HTTPServiceOptions()
            options.connections = Self.mostConnections
            options.each = Self.mostOfOne
            service = try HTTPService(address: address.host, port: address.port, options) { request in
                guard ["GET", "HEAD"].contains(request.method) else { return .now(HTTPServiceAnswer(status: 405)) }
                return Self.reply(to: request.path, watched.sources.withLock { $0 })
            }
        } catch {
            throw CommandFailure(.unavailable, "\(error)")
        }
        self.watched = watched
        self.console = console
        let host = address.host.contains(":") ? "[\(address.host)]" : address.host
        url = "http://\(host):\(service.port)"
    }

    /// Says where it listens, too. It does not say so before: a command that cannot begin has one thing to say.
    func watch(_ subject: Subject) {
        let sources = Sources(
            subject: subject, readiness: FreshValue { await Self.readiness(of: subject) },
            queue: FreshValue { await QueueFigures.look(subject.cluster, subject.queue, within: Self.figuresBound) })
        watched.sources.withLock { $0 = sources }
        console.note(
            "listening on \(url) (/healthz, /readyz, /metrics)",
            [(key: "event", value: "listening"), (key: "address", value: .string(url))])
    }

    /// Ends it, and waits for the answers under way.
    func stop() { service.stop() }

    private static func reply(to path: Substring, _ sources: Sources?) -> HTTPServiceReply {
        switch path {
        case "/healthz":
            .later(
                within: livingBound,
                otherwise: text(503, "The worker's tasks have not run for \(Amounts.roughTime(livingBound)).")
            ) { text(200, "ok") }
        case "/readyz":
            if let sources {
                .later(within: answerBound, otherwise: text(503, "The worker did not answer in time.")) {
                    switch await sources.readiness.value() {
                    case .ready: text(200, "ready")
                    case .not(let sentence): text(503, sentence)
                    }
                }
            } else {
                .now(text(503, "The worker is starting."))
            }
        case "/metrics":
            .later(within: answerBound, otherwise: page(metrics(sources, nil))) { page(metrics(sources, await sources?.queue.value())) }
        default: .now(text(404, "There are /healthz, /readyz and /metrics."))
        }
    }

    private static func page(_ metrics: String) -> HTTPServiceAnswer { HTTPServiceAnswer(metrics, type: MetricsText.contentType) }

    private static func text(_ status: Int, _ line: String) -> HTTPServiceAnswer { HTTPServiceAnswer(status: status, line + "\n") }

    private static func readiness(of subject: Subject) async -> Readiness {
        if subject.interruption.request != nil { return .not("The worker is stopping: it takes no more jobs.") }
        if let jobs = subject.tally.standstill {
            return .not(
                "The worker takes no more jobs for now: Redis or the folder does not take the bodies of its \(Amounts.count(jobs, "job")).")
        }
        if let sentence = subject.tally.activity.fullness { return .not(sentence) }
        do throws(StateError) {
            // A server that answers may still take no writes.
            try await subject.cluster.within(lookBound) {
                try await subject.cluster.tryWriting()
                try await subject.cluster.queue(subject.queue, .once).tryClaiming(
                    lease: subject.options.lease, host: subject.options.hostRule)
            }
            return .ready
        } catch {
            return .not(error.description)
        }
    }

    private static func metrics(_ sources: Sources?, _ figures: QueueFigures?) -> String {
        var page = MetricsText()
        if let sources {
            let subject = sources.subject
            page.add(
                "gannet_worker_info", .gauge, "Which version works on which queue.", 1,
                [("version", Version.current), ("queue", subject.queue)])
            let places = subject.tally.activity.places
            page.add("gannet_worker_concurrency", .gauge, "The most requests in flight at once, now.", places.count)
            page.add(
                "gannet_worker_concurrency_bound", .gauge, "Why the worker makes no more requests at once.", 1,
                [("reason", places.bound.rawValue)])
            page.add(
                "gannet_worker_stopping", .gauge, "Whether the worker takes no more jobs because it was asked to end.",
                subject.interruption.request != nil)
            page.add(
                "gannet_worker_standstill", .gauge,
                "Whether the worker takes no more jobs because Redis or the folder does not take the bodies of those it has.",
                subject.tally.standstill != nil)
            page.add(subject.tally.counts, subject.tally.activity)
            page.add(
                "gannet_queue_data_losses_total", .counter,
                "How often this worker found that Redis knows of fewer jobs than the queue had accepted.", subject.tally.losses)
            // The sums of a part would be lower than those of the whole, and a counter that falls tells of a restart.
            let queue = figures?.queue.flatMap { $0.isPartial ? nil : $0 }
            page.add("gannet_redis_up", .gauge, "Whether Redis, with all its parts, answers this worker.", queue != nil)
            if let queue { page.add(queue, of: subject.queue) }
            if let health = figures?.health { page.add(health) }
            if let bodies = figures?.bodies { page.add(bodies, limit: subject.bodyLimit) }
        }
        page.add(ProcessFigures.current)
        return page.text
    }
}

/// A queue and its Redis at one moment, as far as they could be had.
struct QueueFigures: Sendable {
    var queue: QueueOverview?
    var health: ServerStatus?
    var bodies: BlobUsage?

    static func look(_ cluster: ClusterState, _ queue: String, within time: Duration) async -> QueueFigures {
        async let report = try? cluster.within(time) { try await cluster.queue(queue, .once).overview() }
        async let health = try? cluster.within(time) { try await cluster.server() }
        async let bodies = try? cluster.within(time) { try await BlobStore(cluster).usage() }
        return await QueueFigures(queue: report, health: health, bodies: bodies)
    }
}

/// A value that is looked up once a second at most, however often it is asked for. One caller looks, and the others wait.
actor FreshValue<Value: Sendable> {
    private let lifetime: Duration
    private let look: @Sendable () async -> Value
    private var last: (value: Value, until: ContinuousClock.Instant)?
    private var looking: Task<Value, Never>?

    init(for lifetime: Duration = .seconds(1), _ look: @escaping @Sendable () async -> Value) {
        self.lifetime = lifetime
        self.look = look
    }

    func value() async -> Value {
        if let last, ContinuousClock.now < last.until { return last.value }
        if let looking { return await looking.value }
        let task = Task { await look() }
        looking = task
        let value = await task.value
        looking = nil
        last = (value, ContinuousClock.now + lifetime)
        return value
    }
}
