/// A command or a pipeline that was sent and is not fully answered. Replies come in the order of the commands, so a queue of pending commands tells
/// which reply belongs to which request.
struct PendingCommand {
    let request: Request

    /// The place of the first command in the connection's stream of bytes.
    let start: Int

    /// The replies of a pipeline; `nil` for a single command.
    let gathering: Gathering?

    /// The index of the command whose reply is next, and the end of the indices.
    var index: Int
    let end: Int

    /// The script's source was sent instead of its digest.
    let hasSource: Bool

    /// A request that is sent for the first time.
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

    /// The current command of `pending`, sent again with its script's source.
    init(retrying pending: PendingCommand, start: Int) {
        request = pending.request
        gathering = pending.gathering
        index = pending.index
        end = pending.index + 1
        hasSource = true
        self.start = start
    }

    var command: RedisCommand {
        switch request.payload {
        case .one(let command): command
        case .many(let commands): commands[index]
        }
    }

    /// Whether the whole request may be sent again if nothing of this command was written. Before a script's second attempt, the server did not
    /// execute the first one. But in a pipeline it may have executed other commands.
    var isRepeatable: Bool {
        gathering == nil || (index == 0 && !hasSource)
    }

    /// Takes the reply to the current command. The last reply finishes the request.
    func deliver(_ result: Result<RedisReply, RedisError>) {
        guard let gathering else {
            request.finish(.one(result))
            return
        }
        gathering.fill(index, result)
        if gathering.missing == 0 { request.finish(.many(gathering.results(missing: RedisError(.cancelled)))) }
    }

    /// Finishes the request with the replies so far. The other commands fail with `error`.
    func abandon(_ error: RedisError) {
        guard let gathering else {
            request.fail(error)
            return
        }
        request.finish(.many(gathering.results(missing: error)))
    }
}

/// The replies of a pipeline so far. Used on the connection's thread.
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
