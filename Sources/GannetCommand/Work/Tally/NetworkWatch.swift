import Gannet
internal import GannetBasics

/// Says that URLs wait for the proxy or for a name server: at once, and then once a minute for as long as they do. Nothing of it shows
/// in the counts, since nothing fails.
final class NetworkWatch: Sendable {
    static let pause = Duration.seconds(60)

    private let console: Console
    private let told = Mutex<[NetworkWant.Part: ContinuousClock.Instant]>([:])

    init(_ console: Console) {
        self.console = console
    }

    func note(_ want: NetworkWant) {
        if let line = line(about: want, at: .now) { console.warn(line) }
    }

    /// What is to be said of it; nil when it was said a short while ago.
    func line(about want: NetworkWant, at now: ContinuousClock.Instant) -> String? {
        let isDue = told.withLock { told in
            if let last = told[want.part], now - last < Self.pause { return false }
            told[want.part] = now
            return true
        }
        guard isDue else { return nil }
        let whom =
            switch want.part {
            case .proxy: "the proxy"
            case .nameServer: "a name server"
            }
        return "waiting for \(whom) (\(want.detail)): URLs are put off, which uses up no retry"
    }
}
