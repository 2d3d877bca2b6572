import ClusterState
import CommandLineKit
import Gannet

/// Times that no option names. Tests cannot wait for the usual ones, so the variable `GANNET_TEST_TIMES` sets them:
/// `heartbeat=500ms,idle-look=500ms`. The variable is for tests alone, and may change with any version.
struct Times: Sendable, Equatable {
    /// How often a worker says that it is alive.
    var heartbeat = WorkerOptions().heartbeat
    /// How often a worker without jobs looks for some that nobody has announced.
    var idleLook = WorkerOptions().idleLook
    /// How long an ending worker tries to hand its jobs back.
    var handBack = WorkerOptions().handBackTimeout
    /// When an origin whose robots.txt cannot be read is asked for it again.
    var sitePause = WorkerOptions().sitePause
    /// How long `enqueue` waits for replicas.
    var replicas = Producer.replicaPatience
    /// How long Redis may take to answer a command.
    var answer = ClusterOptions.usualAnswerTime
    /// Between two looks of `status --watch` that go to a pipe.
    var watch = Duration.seconds(2)
    /// The longest answer of the demonstration's site.
    var demoPage = Duration.milliseconds(550)

    static var current: Times { Times(Surroundings.current.environment["GANNET_TEST_TIMES"] ?? "") }

    /// Parts that cannot be read leave the usual times.
    init(_ text: String = "") {
        for part in text.split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
            guard pair.count == 2, let place = Self.places[pair[0]], let time = try? TimeSpan.parse(pair[1]) else { continue }
            self[keyPath: place] = time
        }
    }

    private static let places: [String: WritableKeyPath<Times, Duration> & Sendable] = [
        "heartbeat": \.heartbeat, "idle-look": \.idleLook, "hand-back": \.handBack, "site-pause": \.sitePause, "replicas": \.replicas,
        "answer": \.answer, "watch": \.watch, "demo-page": \.demoPage,
    ]
}
