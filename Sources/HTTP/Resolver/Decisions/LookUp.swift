/// One name on its way to addresses: which question to ask next, of whom, and what the answers add up to.
///
/// It asks the first name server for both kinds of address at once. Where a server has trouble, it asks the next. For a short name it asks
/// for the names that the search list makes of it, one after the other.
struct LookUp {
    /// A question to a name server. An answer counts only while its look-up still waits for that very question.
    struct Question: Hashable {
        let name: String
        let type: DNSRecordType
        /// Which server is asked first, by its place in the configuration.
        let server: Int
        let overTCP: Bool
    }

    enum Action: Hashable {
        case ask(Question)
        /// To say `resend()` after a short while.
        case resendLater
        /// To say `finishWithWhatIsThere()` after a short while: one kind of address is known.
        case hurry
        case finish(Resolution, ttl: UInt32?)
    }

    private enum Part: Hashable {
        case asked(Question)
        /// The query could not be sent, and will be once more.
        case unsent(Question)
        case ended(QueryOutcome)

        var isOpen: Bool { if case .ended = self { false } else { true } }

        var isUnsent: Bool { if case .unsent = self { true } else { false } }
    }

    static let maximumResends = 4

    private let candidates: [String]
    private let servers: Int
    private var candidate = 0
    private var parts: [DNSRecordType: Part] = [:]
    private var types: [DNSRecordType]
    private var resends = 0
    private var troubles = 0
    /// The error of an earlier candidate. It outranks "no such host".
    private var failure: ResolveFailure?
    private var isKnownToExist = false

    /// - Parameters:
    ///   - candidates: The full names to ask for, in this order until one has addresses; at least one.
    ///   - servers: How many name servers there are; at least one.
    init(candidates: [String], servers: Int, withIPv6: Bool) {
        self.candidates = candidates
        self.servers = servers
        types = withIPv6 ? [.aaaa, .a] : [.a]
    }

    mutating func start() -> [Action] {
        parts = [:]
        troubles = 0
        return types.map { type in
            ask(Question(name: candidates[candidate], type: type, server: 0, overTCP: false))
        }
    }

    /// Takes the answer to a question.
    mutating func receive(_ reply: QueryOutcome, to question: Question) -> [Action] {
        guard parts[question.type] == .asked(question) else { return [] }
        switch reply {
        case .truncated where !question.overTCP:
            return [ask(Question(name: question.name, type: question.type, server: question.server, overTCP: true))]
        case .trouble(let trouble):
            // Once more even with one server: a server that does not know EDNS refuses all queries that are under way when c-ares learns it.
            troubles += 1
            if trouble == .formatError && troubles <= 2 || question.server + 1 < servers {
                let server = (question.server + 1) % servers
                return [ask(Question(name: question.name, type: question.type, server: server, overTCP: question.overTCP))]
            }
        case .silence:
            // c-ares may give up sooner than it was told, because it learns how fast the servers are.
            return [ask(question)]
        case .unreachable where resends < Self.maximumResends:
            let isFirst = !parts.values.contains(where: \.isUnsent)
            parts[question.type] = .unsent(question)
            return isFirst ? [.resendLater] : []
        case .addresses, .noData, .noSuchName, .truncated, .unreachable, .outOfMemory: break
        }
        parts[question.type] = .ended(reply)
        return weigh()
    }

    /// Sends queries again that could not be sent: a local name server that restarts is away for a moment.
    mutating func resend() -> [Action] {
        let unsent = parts.values.compactMap { if case .unsent(let question) = $0 { question } else { nil } }
        if !unsent.isEmpty { resends += 1 }
        return unsent.map { ask($0) }
    }

    /// Ends with the known addresses, because the others are late.
    mutating func finishWithWhatIsThere() -> [Action] {
        if let found = found() { [found] } else { [] }
    }

    private mutating func ask(_ question: Question) -> Action {
        parts[question.type] = .asked(question)
        return .ask(question)
    }

    private mutating func weigh() -> [Action] {
        let isOpen = types.contains { parts[$0]?.isOpen ?? true }
        if isOpen {
            // Some servers say of a name without IPv6 addresses that it does not exist. Their answer for IPv4 is true.
            if case .ended(.noSuchName)? = parts[.a] { return endCandidate() }
            return found() == nil ? [] : [.hurry]
        }
        return found().map { [$0] } ?? endCandidate()
    }

    private func found() -> Action? {
        var lists: [[IPAddress]] = []
        var ttl = UInt32.max
        for type in types {
            guard case .ended(.addresses(let addresses, let itsTTL))? = parts[type] else { continue }
            lists.append(addresses)
            ttl = min(ttl, itsTTL)
        }
        guard !lists.isEmpty else { return nil }
        // Each kind may fill its half, so that neither leaves the other without a second chance.
        let share = ResolverOptions.maximumAddresses / lists.count
        return .finish(.success(lists.flatMap { $0.prefix(share) }), ttl: ttl)
    }

    /// The candidate has no addresses: the next one follows, or the end.
    private mutating func endCandidate() -> [Action] {
        var ttl: UInt32?
        for case .ended(let outcome) in parts.values {
            switch outcome {
            case .noData(let itsTTL), .noSuchName(let itsTTL):
                if case .noData = outcome { isKnownToExist = true }
                ttl = [ttl, itsTTL].compactMap { $0 }.min()
            case .trouble(let trouble): failure = failure ?? .serverFailed(trouble)
            case .truncated: failure = failure ?? .serverFailed(.nonsense)
            case .unreachable: failure = failure ?? .noNameServer
            case .outOfMemory: failure = failure ?? .systemLimit
            case .addresses, .silence: break
            }
        }
        candidate += 1
        if candidate < candidates.count { return start() }
        return [.finish(.failure(failure ?? (isKnownToExist ? .noAddress : .noSuchName)), ttl: failure == nil ? ttl : nil)]
    }
}
