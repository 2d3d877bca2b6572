/// Why Redis could not be reached or used.
///
/// The description is one sentence on the problem and one on its solution. It never holds a password or a command's arguments.
public struct RedisError: Error, Sendable, Equatable {
    /// The ways in which a program can react to an error.
    public enum Reason: Sendable {
        /// An option, such as the address, is wrong.
        case usage
        /// Redis is away, refuses this client, or is not suited.
        case unavailable
        /// The namespace holds data of another version.
        case otherVersion
        /// A defect of this library.
        case defect
    }

    package enum Kind: Sendable, Equatable, CaseIterable {
        // While connecting.
        case invalidConfiguration, unresolvable, unreachable, connectTimeout, tlsFailed, notRedis, tooOld
        case authenticationFailed, authenticationRequired, tooManyClients, otherSchema
        // Answers of a server.
        case notPermitted, loading, readOnly, replicaStale, busy, outOfMemory, writesDisabled, wrongType
        case moved, ask, tryAgain, clusterDown
        case clustered, noScript, scriptFailed, unexpectedReply, other
        // Ends of a command without an answer.
        case commandTimeout, connectionLost, unavailable, replyTooLarge, backlogFull, cancelled, closed
    }

    package let kind: Kind

    /// The problem, in the server's or the system's words if there are any.
    package var detail: String

    /// The server, without credentials; empty if no server is involved.
    package var server: String

    /// A cluster gave the server's address, and no user.
    package var isOfGivenAddress = false

    /// The slot that is on its way to another server of the cluster, for ``Kind/tryAgain``.
    package var slot: HashSlot?

    /// The command was written at least in part, so the server may have executed it.
    package var mayHaveExecuted: Bool

    package init(_ kind: Kind, _ detail: String = "", server: String = "", mayHaveExecuted: Bool = false) {
        self.kind = kind
        self.detail = detail
        self.server = server
        self.mayHaveExecuted = mayHaveExecuted
    }

    public var reason: Reason {
        switch kind {
        case .invalidConfiguration: .usage
        case .otherSchema: .otherVersion
        case .unexpectedReply, .scriptFailed, .noScript, .closed: .defect
        default: .unavailable
        }
    }
}

extension RedisError {
    /// Whether a later attempt may succeed without a change by an operator.
    package var isTransient: Bool {
        switch kind {
        case .unresolvable, .unreachable, .connectTimeout, .tooManyClients, .loading, .readOnly, .replicaStale, .busy, .outOfMemory,
            .writesDisabled, .commandTimeout, .connectionLost, .unavailable, .backlogFull, .moved, .ask, .tryAgain, .clusterDown:
            true
        case .invalidConfiguration, .tlsFailed, .notRedis, .tooOld, .authenticationFailed, .authenticationRequired, .notPermitted,
            .otherSchema, .wrongType, .clustered, .noScript, .scriptFailed, .unexpectedReply, .other, .replyTooLarge, .cancelled, .closed:
            false
        }
    }

    /// The end of a command that waited for a connection until its timeout. It names the error of the last attempt.
    init(unavailableBecause reason: RedisError) {
        var unnamed = reason
        unnamed.server = ""
        self.init(.unavailable, unnamed.description, server: reason.server)
    }

    /// The error with the name of its server, and without `secret`.
    func at(_ address: RedisAddress, scrubbing secret: RedisSecret? = nil) -> RedisError {
        var copy = self
        copy.server = address.description
        if let secret { copy.detail = secret.scrub(copy.detail) }
        return copy
    }
}

extension RedisError: CustomStringConvertible {
    private static let givenAddress =
        "The cluster gave this address. Check that the server runs, and that this machine reaches it there: otherwise set its cluster-announce-ip."

    /// A cluster serves nothing, also not the keys whose servers live.
    package var isOfWholeCluster: Bool { kind == .clusterDown && detail.hasPrefix("The cluster is down") }

    public var description: String {
        if let sentinelDescription { return sentinelDescription }
        // Sentinels refuse nobody here: it is the primary that they have named.
        let subject = server.isEmpty ? "Redis" : isBehindSentinels ? "Redis, the primary of \(server)," : "Redis at \(server)"
        let shown = detail.isEmpty ? "" : " (\(detail))"
        switch kind {
        case .invalidConfiguration, .otherSchema:
            return detail
        case .unresolvable:
            return "\(subject) cannot be found\(shown). \(isOfGivenAddress ? Self.givenAddress : "Check the host name.")"
        case .unreachable:
            let advice = "Check the address, and that the server runs and listens there."
            return "\(subject) cannot be reached\(shown). \(isOfGivenAddress ? Self.givenAddress : advice)"
        case .connectTimeout:
            let advice = "Check the address, the network and any firewall between."
            return "\(subject) did not answer in time\(shown). \(isOfGivenAddress ? Self.givenAddress : advice)"
        case .tlsFailed:
            return "No secure connection to \(subject)\(shown). Check the certificate, the trusted authorities and the host name."
        case .notRedis:
            return
                "The server at \(server.isEmpty ? "the address" : server) does not speak Redis' protocol\(shown). Check host and port."
        case .tooOld:
            return "\(subject) is too old\(shown). Use Redis \(RedisConfiguration.oldestServer) or newer."
        case .authenticationFailed:
            return "\(subject) refused the user or password. Check the password file, or the user and password in the address."
        case .authenticationRequired:
            return "\(subject) asks for a password. Give a password file, or put the password into the address."
        case .tooManyClients:
            return "\(subject) has no connection left to give. Raise its maxclients, or run fewer workers."
        case .notPermitted:
            return "\(subject) does not permit that to this user\(shown): Docs/REDIS.md has the whole ACL rule."
        case .loading:
            return "\(subject) is still loading its data set. Try again in a moment."
        case .readOnly:
            return "\(subject) is a read-only replica. Point the address at the primary."
        case .replicaStale:
            return "\(subject) is a replica that has lost its primary\(shown). Restore the link, or point the address at the primary."
        case .busy:
            return "\(subject) is busy with a long-running script. Wait for it, or end it with SCRIPT KILL."
        case .outOfMemory:
            return "\(subject) is full: maxmemory is reached. Raise it, or free memory."
        case .writesDisabled:
            return "\(subject) refuses writes\(shown). Mend its disk or its replicas."
        case .wrongType:
            return
                "A key in \(subject) holds a value of another kind\(shown). Another program uses the same key; choose another namespace."
        case .moved, .ask:
            return "\(subject) sent this command on to another server too often\(shown). Look at CLUSTER NODES: the servers disagree."
        case .tryAgain:
            return
                "\(subject) is moving the keys of this command to another server\(shown). Try again in a moment. If nobody moves slots now, a move was broken off: 'redis-cli --cluster check' shows it, and 'redis-cli --cluster fix' ends it."
        case .clusterDown:
            return
                "The cluster of \(subject) has no server for some of its keys\(shown). Start the missing servers, which 'redis-cli cluster nodes' names, or promote a replica."
        case .clustered:
            return "\(subject) is part of a Redis Cluster, which does not do that\(shown). A cluster has database 0 only."
        case .noScript:
            return "\(subject) keeps forgetting a script it was just given\(shown). Look for something that runs SCRIPT FLUSH."
        case .scriptFailed:
            return "A script failed in \(subject)\(shown). This is a defect: please report it."
        case .unexpectedReply:
            return "\(subject) gave an answer of the wrong kind\(shown). This is a defect: please report it."
        case .other:
            return "\(subject) answered with an error: \(detail)"
        case .commandTimeout:
            let reasons =
                isOfGivenAddress ? "overloaded, paused or cut off, or its cluster-announce-ip is wrong" : "overloaded, paused or cut off"
            return "\(subject) did not answer a command in time\(shown). It is \(reasons)."
        case .connectionLost:
            return "The connection to \(subject) was lost\(shown)."
        case .unavailable:
            return "\(subject) has been away for too long." + (detail.isEmpty ? "" : " The last attempt: \(detail)")
        case .replyTooLarge:
            return "\(subject) sent a reply that is larger than the limit\(shown). Ask for less at once."
        case .backlogFull:
            return "Too much is waiting to be sent to \(subject)\(shown). It is slower than what is asked of it."
        case .cancelled:
            return "The command to \(subject) was cancelled."
        case .closed:
            return "This program has closed the connection to \(subject)."
        }
    }
}
