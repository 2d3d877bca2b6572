internal import GannetBase

/// The way of one command through a cluster: what follows when a node has refused it. No IO, clock or randomness.
struct ClusterAttempt {
    typealias Instant = ContinuousClock.Instant

    enum Step: Equatable {
        /// Send the command to the owner of its slot.
        case toOwner
        /// Send it once to a node that a slot is moving to.
        case ask(RedisAddress)
        /// Look for the owner again, and send it after a pause.
        case pause(Duration)
        case fail(RedisError)
    }

    private let deadline: Instant
    private var redirections = 0
    private var pauses = 0

    /// So many redirections may follow each other without a pause. More of them are a cluster whose nodes disagree for a moment.
    private static let mostRedirections = 5
    /// A node needs this long to answer. With less time left, the caller learns why it waited, and not that its time is up.
    private static let answerTime = Duration.milliseconds(100)
    private static let backoff = Backoff(first: .milliseconds(20), longest: .milliseconds(500))

    init(deadline: Instant) { self.deadline = deadline }

    /// - Parameter redirection: The node's hint, where the error has one.
    mutating func step(after error: RedisError, _ redirection: Redirection?, now: Instant) -> Step {
        switch error.kind {
        case .moved, .ask:
            guard let redirection else { return .fail(error) }
            redirections += 1
            if redirections > Self.mostRedirections { return pause(or: error, now) }
            return error.kind == .ask ? .ask(redirection.address) : .toOwner
        case .tryAgain, .clusterDown: return pause(or: error, now)
        // The node has left the cluster before it got the command.
        case .closed, .connectionLost, .readOnly: return error.mayHaveExecuted ? .fail(error) : pause(or: error, now)
        default: return .fail(error)
        }
    }

    private mutating func pause(or error: RedisError, _ now: Instant) -> Step {
        let pause = Self.backoff.pause(after: pauses)
        guard now + pause + Self.answerTime < deadline else { return .fail(error) }
        pauses += 1
        redirections = 0
        return .pause(pause)
    }
}
