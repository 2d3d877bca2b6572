/// One or more commands of a request that are on the wire together, and the replies that have come. Replies come in the order
/// of the commands, so that a row of flights is all it takes to tell whose reply is whose.
struct Flight {
    let request: Request

    /// Where in the connection's stream the first command begins.
    let start: Int

    /// The replies of a pipeline; `nil` for a single command.
    let gathering: Gathering?

    /// The command of the pipeline whose reply is next, and the one behind the last.
    var index: Int
    let end: Int

    /// The script's source has been sent in place of its digest.
    let hasSource: Bool

    /// All of `request`, sent for the first time.
    init(_ request: Request, start: Int) {
        self.request = request
        self.start = start
        index = 0
        hasSource = false
        switch request.payload {
        case .one:
            gathering = nil
            end = 1
        case .many(let commands):
            gathering = Gathering(count: commands.count)
            end = commands.count
        }
    }

    /// The command whose reply `flight` awaits, sent again with its script's source.
    init(retrying flight: Flight, start: Int) {
        request = flight.request
        gathering = flight.gathering
        index = flight.index
        end = flight.index + 1
        hasSource = true
        self.start = start
    }

    var command: RedisCommand {
        switch request.payload {
        case .one(let command): command
        case .many(let commands): commands[index]
        }
    }

    /// Whether the whole request may be sent again when nothing of this flight has been written. A second try at a script follows a
    /// first that the server did not carry out; but in a pipeline other commands may have been.
    var isRepeatable: Bool {
        gathering == nil || (index == 0 && !hasSource)
    }

    /// Notes the reply to the current command, and tells the caller once there is nothing left to come.
    func deliver(_ result: Result<RedisReply, RedisError>) {
        guard let gathering else {
            request.finish(.one(result))
            return
        }
        gathering.fill(index, result)
        if gathering.missing == 0 { request.finish(.many(gathering.results(missing: RedisError(.cancelled)))) }
    }

    /// Ends the request with what has come so far; the rest failed with `error`.
    func abandon(_ error: RedisError) {
        guard let gathering else {
            request.fail(error)
            return
        }
        request.finish(.many(gathering.results(missing: error)))
    }
}

/// The replies of a pipeline as they come. Lives on the connection's thread.
final class Gathering {
    private var slots: [Result<RedisReply, RedisError>?]
    private(set) var missing: Int

    init(count: Int) {
        slots = Array(repeating: nil, count: count)
        missing = count
    }

    func fill(_ index: Int, _ result: Result<RedisReply, RedisError>) {
        if slots[index] == nil { missing -= 1 }
        slots[index] = result
    }

    func results(missing error: RedisError) -> [Result<RedisReply, RedisError>] {
        slots.map { $0 ?? .failure(error) }
    }
}
