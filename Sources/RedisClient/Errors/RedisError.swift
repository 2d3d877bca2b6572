/// Everything that can go wrong between a caller and a Redis server.
///
/// The description is one sentence on what happened and one on what to do. It never holds a password or a command's arguments.
package struct RedisError: Error, Sendable, Equatable {
    package enum Kind: Sendable, Equatable, CaseIterable {
        // Before a connection stands.
        case invalidConfiguration, unresolvable, unreachable, connectTimeout, tlsFailed, notRedis, tooOld
        case authenticationFailed, authenticationRequired, tooManyClients
        // What a server answers.
        case notPermitted, loading, readOnly, replicaStale, busy, outOfMemory, writesDisabled, wrongType
        case clustered, noScript, scriptFailed, unexpectedReply, other
        // What becomes of a command.
        case commandTimeout, connectionLost, unavailable, replyTooLarge, backlogFull, cancelled, closed
    }

    package let kind: Kind

    /// What happened, in the server's or the system's words where there are any.
    package var detail: String

    /// The server, without credentials; empty where no server is involved.
    package var server: String

    /// The command had been (partly) written: the server may have carried it out although there is no reply.
    package var mayHaveExecuted: Bool

    package init(_ kind: Kind, _ detail: String = "", server: String = "", mayHaveExecuted: Bool = false) {
        self.kind = kind
        self.detail = detail
        self.server = server
        self.mayHaveExecuted = mayHaveExecuted
    }
}

extension RedisError {
    /// Whether trying again later can succeed without anybody changing anything.
    package var isTransient: Bool {
        switch kind {
        case .unresolvable, .unreachable, .connectTimeout, .tooManyClients, .loading, .readOnly, .replicaStale, .busy, .outOfMemory,
            .writesDisabled, .commandTimeout, .connectionLost, .unavailable, .backlogFull:
            true
        case .invalidConfiguration, .tlsFailed, .notRedis, .tooOld, .authenticationFailed, .authenticationRequired, .notPermitted,
            .wrongType, .clustered, .noScript, .scriptFailed, .unexpectedReply, .other, .replyTooLarge, .cancelled, .closed:
            false
        }
    }

    /// The end of a command that waited for a connection in vain; names why the last attempt came to nothing.
    init(unavailableBecause reason: RedisError) {
        var unnamed = reason
        unnamed.server = ""
        self.init(.unavailable, unnamed.description, server: reason.server)
    }

    /// Named after the server it came from, and free of `secret`.
    func at(_ address: RedisAddress, scrubbing secret: RedisSecret? = nil) -> RedisError {
        var copy = self
        copy.server = address.description
        if let secret { copy.detail = secret.scrub(copy.detail) }
        return copy
    }
}
