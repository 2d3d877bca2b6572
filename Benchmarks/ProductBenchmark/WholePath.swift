import BenchmarkKit
import GannetTestKit

/// URLs from the queue to bodies in Redis, beside `curl -Z` on the same origin, and beside the cheapest queue on the same Redis.
struct WholePath {
    private let stage: Stage
    private let rounds: Int
    private let isQuick: Bool

    private static let bodySize = 10_000
    private static let hosts = 1000
    private static let latency = Duration.milliseconds(50)

    init(_ stage: Stage, _ rounds: Int, _ isQuick: Bool) {
        self.stage = stage
        self.rounds = rounds
        self.isQuick = isQuick
    }

    /// `near` is an nginx, with no latency but that of its work. `late` is an origin that has a latency and no other limit,
    /// and `names` an nginx with thousands of names.
    func run(_ parts: [String]) async throws {
        var courses: [Course] = []
        if parts.isEmpty || parts.contains("near") { courses += try await near() }
        if parts.isEmpty || parts.contains("late") { courses += try await late() }
        if parts.isEmpty || parts.contains("names") { courses += try await names() }
        printPath(courses)
        printRedis(courses)
        if courses.contains(where: { $0.possible != nil }) { printLate(courses) }
        if let first = courses.first { printCommands(first) }
    }

    private func near() async throws -> [Course] {
        let addresses = (0..<Self.hosts).map { "127.0.\(1 + $0 / 250).\(1 + $0 % 250)" }
        let origin = try await Origin.start(
            .init {
                $0.answersWithOwnBodies()
                $0.addresses += addresses
            })
        var courses: [Course] = []
        for (name, hosts) in [("1 host", ["127.0.0.1"]), ("\(grouped(Self.hosts)) hosts", addresses)] {
            for (workers, count) in [(1, 40_000), (4, 20_000)] {
                var course = Course(name, .init(count: workers, concurrency: 64 / workers, hostLimit: 128), isQuick ? 2000 : count)
                try await measure(&course) { "http://\(hosts[$0 % hosts.count]):\(origin.port)/bench/a/path/of/usual/length/\($0)" }
                courses.append(course)
            }
        }
        try await origin.stop()
        return courses
    }

    /// HTTPS and many host names. Neither program asks a name server for names below `localhost`.
    private func names() async throws -> [Course] {
        Machine.raiseDescriptorLimit()
        let certificates = try await Certificates.shared
        let origin = try await Origin.start(
            .init {
                $0.answersWithOwnBodies()
                $0.certificate = certificates.good
            })
        let names = isQuick ? 1000 : 10_000
        let workers = Product.Workers(concurrency: 64, authority: certificates.authority)
        var course = Course("\(grouped(names)) names, HTTPS", workers, isQuick ? 2000 : 20_000)
        let port = origin.tlsPort ?? 0
        try await measure(&course) { "https://host\($0 % names).names.localhost:\(port)/bench/a/path/of/usual/length/\($0)" }
        try await origin.stop()
        return [course]
    }

    private func late() async throws -> [Course] {
        Machine.raiseDescriptorLimit()
        let origin = try LateOrigin(latency: Self.latency, bodySize: Self.bodySize)
        var courses: [Course] = []
        for (places, count) in [(64, 20_000), (1000, 40_000)] {
            let workers = Product.Workers(concurrency: places, hostLimit: 2 * places)
            var course = Course("\(Int(Self.latency / .milliseconds(1))) ms, \(grouped(places)) places", workers, isQuick ? 2000 : count)
            course.possible = Double(places) / (Self.latency / .seconds(1))
            try await measure(&course) { origin.url("/a/path/of/usual/length/\($0)") }
            courses.append(course)
        }
        try await origin.stop()
        return courses
    }

    private func measure(_ course: inout Course, _ url: (Int) -> String) async throws {
        let list = stage.folder.file("urls")
        try writeFile(list, course.count) { url($0) + "\n" }
        let places = course.workers.count * course.workers.concurrency
        var curl = places <= Curl.limit ? try Curl(stage.folder, course.count, url) : nil
        curl?.authority = course.workers.authority
        let product = Product(stage: stage)
        for round in 1...rounds {
            note("\(course.name), workers: \(course.workers.count), round \(round) of \(rounds)")
            try await stage.clear()
            try await product.enqueue(list, count: course.count)
            let gannet = try await product.work(course.workers, course.count, total: "fetched")
            let curl = try await curl?.run(inFlight: places)
            let bare = BareQueue(stage: stage)
            let queue = try await bare.run(course.count)
            let bodies = try await bare.keepBodies(course.count, size: Self.bodySize)
            course.rounds.append(.init(gannet: gannet, curl: curl, queue: queue, bodies: bodies))
        }
    }
}
