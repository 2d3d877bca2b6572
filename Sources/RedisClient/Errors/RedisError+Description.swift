extension RedisError: CustomStringConvertible {
    package var description: String {
        let subject = server.isEmpty ? "Redis" : "Redis at \(server)"
        let shown = detail.isEmpty ? "" : " (\(detail))"
        switch kind {
        case .invalidConfiguration:
            return detail
        case .unresolvable:
            return "\(subject) cannot be found\(shown). Check the host name."
        case .unreachable:
            return "\(subject) cannot be reached\(shown). Check the address, and that the server runs and listens there."
        case .connectTimeout:
            return "\(subject) did not answer in time\(shown). Check the address, the network and any firewall between."
        case .tlsFailed:
            return "No secure connection to \(subject)\(shown). Check the certificate, --redis-ca-file and the host name."
        case .notRedis:
            return
                "What listens at \(server.isEmpty ? "the address" : server) does not speak Redis' protocol\(shown). Check host, port and redis:// against rediss://."
        case .tooOld:
            return "\(subject) is too old\(shown). Use Redis \(RedisConfiguration.oldestServer) or newer."
        case .authenticationFailed:
            return "\(subject) refused the user or password. Check --redis-password-file or the address's user:password@ part."
        case .authenticationRequired:
            return "\(subject) asks for a password. Give one with --redis-password-file."
        case .tooManyClients:
            return "\(subject) has no connection left to give. Raise its maxclients, or run fewer workers."
        case .notPermitted:
            return "\(subject) does not permit that to this user\(shown): Docs/REDIS.md has the whole of the ACL rule."
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
                "A key in \(subject) holds a value of another kind\(shown). Another program uses the same key; choose another --namespace."
        case .clustered:
            return "\(subject) is part of a Redis Cluster\(shown), which is not supported. Use a server of its own."
        case .noScript:
            return "\(subject) keeps forgetting a script it was just given\(shown). Look for something that runs SCRIPT FLUSH."
        case .scriptFailed:
            return "A script failed in \(subject)\(shown). This is a defect: please report it."
        case .unexpectedReply:
            return "\(subject) gave an answer of the wrong kind\(shown). This is a defect: please report it."
        case .other:
            return "\(subject) answered with an error: \(detail)"
        case .commandTimeout:
            return "\(subject) did not answer a command in time\(shown). It is overloaded, paused or cut off."
        case .connectionLost:
            return "The connection to \(subject) was lost\(shown)."
        case .unavailable:
            return "\(subject) has been away for too long." + (detail.isEmpty ? "" : " The last attempt: \(detail)")
        case .replyTooLarge:
            return "\(subject) sent a reply beyond the limit on one reply\(shown). Ask for less at once."
        case .backlogFull:
            return "Too much is waiting to be sent to \(subject)\(shown). It is slower than what is asked of it."
        case .cancelled:
            return "The command to \(subject) was cancelled."
        case .closed:
            return "The connection to \(subject) has been closed by this program."
        }
    }
}
