import Crawl
import GannetBase
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

    /// The worker, set by another thread than those that answer, and the last looks at it.
    private final class Watched: Sendable {
        let subject = Mutex<Subject?>(nil)
        /// Why the worker cannot work; nil where it can.
        let hindrance = FreshValue<String?>()
        let figures = FreshValue<QueueFigures>()
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
                return Self.reply(to: request.path, watched)
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
        watched.subject.withLock { $0 = subject }
        console.note(
            "listening on \(url) (/healthz, /readyz, /metrics)",
            [(key: "event", value: "listening"), (key: "address", value: .string(url))])
    }

    /// Ends it, and waits for the answers under way.
    func stop() { service.stop() }

    private static func reply(to path: Substring, _ watched: Watched) -> HTTPServiceReply {
        let subject = watched.subject.withLock { $0 }
        switch path {
        case "/healthz":
            return .later(
                within: livingBound,
                otherwise: text(503, "The worker's tasks have not run for \(Amounts.roughTime(livingBound)).")
            ) { text(200, "ok") }
        case "/readyz":
            guard let subject else { return .now(text(503, "The worker is starting.")) }
            return .later(within: answerBound, otherwise: text(503, "The worker did not answer in time.")) {
                let sentence = await watched.hindrance.value { await hindrance(of: subject) }
                return sentence.map { text(503, $0) } ?? text(200, "ready")
            }
        case "/metrics":
            return .later(within: answerBound, otherwise: page(subject, nil)) {
                guard let subject else { return page(nil, nil) }
                return page(
                    subject,
                    await watched.figures.value { await QueueFigures.look(subject.cluster, subject.queue, within: figuresBound) })
            }
        default: return .now(text(404, "There are /healthz, /readyz and /metrics."))
        }
    }

    private static func page(_ subject: Subject?, _ figures: QueueFigures?) -> HTTPServiceAnswer {
        HTTPServiceAnswer(MetricsText(of: subject, figures).text, type: MetricsText.contentType)
    }

    private static func text(_ status: Int, _ line: String) -> HTTPServiceAnswer { HTTPServiceAnswer(status: status, line + "\n") }

    private static func hindrance(of subject: Subject) async -> String? {
        if subject.interruption.request != nil { return "The worker is stopping: it takes no more jobs." }
        if let jobs = subject.tally.standstill {
            return
                "The worker takes no more jobs for now: Redis or the folder does not take the bodies of its \(Amounts.count(jobs, "job"))."
        }
        if let sentence = subject.tally.activity.fullness { return sentence }
        do throws(StateError) {
            // A server that answers may still take no writes.
            try await subject.cluster.within(lookBound) {
                try await subject.cluster.tryWriting()
                try await subject.cluster.queue(subject.queue, .once).tryClaiming(
                    lease: subject.options.lease, host: subject.options.hostRule)
            }
            return nil
        } catch {
            return error.description
        }
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
    private var last: (value: Value, until: ContinuousClock.Instant)?
    private var looking: Task<Value, Never>?

    func value(_ look: @escaping @Sendable () async -> Value) async -> Value {
        if let last, ContinuousClock.now < last.until { return last.value }
        if let looking { return await looking.value }
        let task = Task { await look() }
        looking = task
        let value = await task.value
        looking = nil
        last = (value, ContinuousClock.now + .seconds(1))
        return value
    }
}
