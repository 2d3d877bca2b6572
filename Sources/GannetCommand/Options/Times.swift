import Crawl
import GannetQueue

/// Times, and a number, that no option names. Tests cannot wait for the usual ones, so the variable `GANNET_TEST_TIMES` sets them:
/// `heartbeat=500ms,idle-look=500ms,host-first=8`. The variable is for tests alone, and may change with any version.
struct Times: Sendable, Equatable {
    /// How often a worker says that it is alive.
    var heartbeat = WorkerOptions().heartbeat
    /// How often a worker without jobs looks for some that nobody has announced.
    var idleLook = WorkerOptions().idleLook
    /// How long an ending worker tries to hand its jobs back.
    var handBack = WorkerOptions().handBackTimeout
    /// When an origin whose robots.txt cannot be read is asked for it again.
    var sitePause = WorkerOptions().sitePause
    /// How many requests a host has in flight before it answers.
    var hostFirst = WorkerOptions().hostFirst
    /// How long `enqueue` waits for replicas.
    var replicas = Producer.replicaPatience
    /// How long Redis may take to answer a command.
    var answer = ClusterOptions.usualAnswerTime
    /// Between two looks of `status --watch` that go to a pipe.
    var watch = Duration.seconds(2)
    /// Between two looks at the progress of a command; it is told after ten of them where nothing can be drawn.
    var progress = Duration.seconds(1)
    /// How long `run --finish` waits for the end of a run. A manifest of ten million rows takes minutes.
    var finish = Duration.seconds(1800)
    /// How long a command waits for a private Redis that runs on the data, to listen or to end.
    var succession = Duration.seconds(30)
    /// The longest answer of the demonstration's site.
    var demoPage = Duration.milliseconds(550)

    static let variable = "GANNET_TEST_TIMES"

    static var current: Times { Times(Surroundings.current.environment[variable] ?? "") }

    /// Parts that cannot be read leave the usual times.
    init(_ text: String = "") {
        for part in text.split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
            guard pair.count == 2 else { continue }
            if let path = Self.names[pair[0]], let time = try? TimeSpan.parse(pair[1]) { self[keyPath: path] = time }
            if pair[0] == "host-first", let count = Int(pair[1]) { hostFirst = count }
        }
    }

    private static let names: [String: any WritableKeyPath<Times, Duration> & Sendable] = [
        "heartbeat": \.heartbeat, "idle-look": \.idleLook, "hand-back": \.handBack, "site-pause": \.sitePause, "replicas": \.replicas,
        "answer": \.answer, "watch": \.watch, "progress": \.progress, "demo-page": \.demoPage, "finish": \.finish,
        "succession": \.succession,
    ]
}
