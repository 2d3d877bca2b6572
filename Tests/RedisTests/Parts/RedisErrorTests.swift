import Testing

@testable import GannetRedisClient

@Suite(.timeLimit(.minutes(3))) struct RedisErrorTests {
    @Test(
        arguments: [
            ("LOADING Redis is loading the dataset in memory", .loading),
            ("READONLY You can't write against a read only replica.", .readOnly),
            ("MASTERDOWN Link with MASTER is down", .replicaStale), ("BUSY Redis is busy running a script.", .busy),
            ("OOM command not allowed when used memory > 'maxmemory'.", .outOfMemory),
            ("MISCONF Redis is configured to save", .writesDisabled),
            ("NOREPLICAS Not enough good replicas to write.", .writesDisabled),
            ("NOAUTH Authentication required.", .authenticationRequired),
            ("WRONGPASS invalid username-password pair or user is disabled.", .authenticationFailed),
            ("ERR invalid password", .authenticationFailed),
            ("ERR AUTH <password> called without any password configured for the default user.", .authenticationFailed),
            ("NOPERM this user has no permissions to run the 'eval' command", .notPermitted), ("WRONGTYPE Operation against", .wrongType),
            ("NOSCRIPT No matching script.", .noScript), ("MOVED 3999 127.0.0.1:6381", .moved), ("CLUSTERDOWN Hash slot", .clusterDown),
            ("ASK 3999 127.0.0.1:6381", .ask), ("TRYAGAIN Multiple keys request during rehashing of slot", .tryAgain),
            ("CROSSSLOT Keys in request don't hash to the same slot", .clustered),
            ("ERR SELECT is not allowed in cluster mode", .clustered),
            ("ERR max number of clients reached", .tooManyClients), ("ERR user_script:1: Script attempted", .scriptFailed),
            ("ERR Error running script (call to f_00): @user_script:1: -OOM command not allowed", .outOfMemory),
            ("ERR Error running script (call to f_00): @user_script:1: nil value", .scriptFailed),
            ("BUSYGROUP Consumer Group name already exists", .other), ("BUSYKEY Target key name already exists.", .other),
            ("ERR syntax error", .other), ("", .other), ("-", .other),
        ] as [(String, RedisError.Kind)])
    func `each error text of a server has its kind`(text: String, kind: RedisError.Kind) {
        #expect(RedisError(reply: text).kind == kind)
    }

    @Test(
        arguments: [
            // Redis 7.0 and 6.2: the command itself, one in a script, a key, a channel; then 7.2.
            ("NOPERM this user has no permissions to run the 'get' command", "+get"),
            ("NOPERM this user has no permissions to run the 'get' command or its subcommand", "+get"),
            ("ERR The user executing the script can't run this command or subcommand script: 7bdc, on @user_script:3.", "+rpush or +lpush"),
            (
                "ERR Error running script (call to f_7bdc): @user_script:2: @user_script: 2: "
                    + "The user executing the script can't run this command or subcommand", "+hget"
            ),
            ("ERR The user executing the script can't access at least one of the keys mentioned in the command arguments", "keys"),
            ("NOPERM this user has no permissions to access one of the keys used as arguments", "keys"),
            ("NOPERM this user has no permissions to access one of the channels used as arguments", "channels"),
            (
                "NOPERM ACL failure in script: User gannet has no permissions to run the 'hset' command script: 7bdc, on @user_script:1.",
                "+hset"
            ),
            ("NOPERM No permissions to access a key", "keys"),
        ])
    func `an error about permissions names the words that the rule lacks`(text: String, words: String) {
        let script = RedisScript("local call = redis.call\nreturn call('HGET', KEYS[1], 'x')\ncall(first and 'RPUSH' or 'LPUSH', 'x', 'y')")
        let error = RedisError(reply: text).naming(commandIn: script)
        #expect(error.kind == .notPermitted)
        #expect(error.description.contains("lacks ") && error.detail.hasSuffix("lacks " + words) || !words.hasPrefix("+"))
        #expect(error.description.contains(words) && !error.description.contains("script"))
        // Without the script, or with one that has no such line, it is still no defect.
        #expect(RedisError(reply: text).naming(commandIn: RedisScript("return 1")).kind == .notPermitted)
    }

    @Test func `the line of a script is left out if the script is not at fault`() {
        let place = " script: 568525ea17719103a2808f8dcc302063d437fa4f, on @user_script:577."
        #expect(RedisError(reply: "MISCONF No space left on device" + place).description.contains("(No space left on device)"))
        #expect(RedisError(reply: "ERR Lua redis lib command arguments must be strings" + place).description.contains("user_script:577"))
    }

    @Test(
        arguments: [
            (.unresolvable, "Check the host name"), (.unreachable, "Check the address"), (.connectTimeout, "firewall"),
            (.tlsFailed, "trusted authorities"), (.notRedis, "Check host and port"), (.tooOld, "Use Redis 6.2 or newer"),
            (.authenticationFailed, "password file"), (.authenticationRequired, "password file"),
            (.tooManyClients, "maxclients"), (.notPermitted, "ACL"), (.loading, "Try again"), (.readOnly, "primary"),
            (.replicaStale, "primary"), (.busy, "SCRIPT KILL"), (.outOfMemory, "maxmemory"), (.writesDisabled, "Mend"),
            (.wrongType, "another namespace"), (.clustered, "database 0"), (.moved, "CLUSTER NODES"), (.tryAgain, "in a moment"),
            (.clusterDown, "promote"), (.noScript, "SCRIPT FLUSH"),
            (.scriptFailed, "report"),
            (.unexpectedReply, "report"), (.other, "why"), (.commandTimeout, "overloaded"), (.connectionLost, "was lost"),
            (.unavailable, "why"), (.replyTooLarge, "Ask for less"), (.backlogFull, "slower"), (.cancelled, "cancelled"),
            (.closed, "This program has closed the connection"), (.invalidConfiguration, "why"),
        ] as [(RedisError.Kind, String)])
    func `each kind says what to do`(kind: RedisError.Kind, words: String) {
        let error = RedisError(kind, "why").at(.tcp(host: "::1", port: 7, tls: true))
        #expect(error.description.contains(words))
        #expect(kind == .invalidConfiguration || error.description.contains("rediss://[::1]:7"))
        #expect(!RedisError(kind).description.contains("()"))
    }

    @Test(
        arguments: [
            (
                .unresolvable, "the Sentinels know no primary of the name 'x'",
                "The Sentinels of redis+sentinel://a:1,b:2/x know no primary of the name 'x'. "
                    + "Check the name at the end of the address; 'SENTINEL MASTERS' lists the names."
            ),
            (
                .unreachable,
                "no Sentinel answers: Redis at redis://a:1 cannot be reached (Connection refused). "
                    + "Check the address, and that the server runs and listens there.",
                "No Sentinel of redis+sentinel://a:1,b:2/x answers: the Sentinel at redis://a:1 cannot be reached (Connection refused). "
                    + "Check the address, and that the server runs and listens there."
            ),
            (
                .invalidConfiguration, "no Sentinel answers: A server of the redis+sentinel:// address is not a Sentinel.",
                "No Sentinel of redis+sentinel://a:1,b:2/x answers: a server of the redis+sentinel:// address is not a Sentinel. "
                    + "Name the Sentinels, with their ports."
            ),
            (
                .unreachable, "Connection refused",
                "The primary that redis+sentinel://a:1,b:2/x names cannot be reached (Connection refused). "
                    + "A failover may be under way: try again in a moment. If it lasts, check that the primary runs and listens at the address "
                    + "that the Sentinels have."
            ),
            (
                .authenticationFailed, "",
                "Redis, the primary of redis+sentinel://a:1,b:2/x, refused the user or password. "
                    + "Check the password file, or the user and password in the address."
            ),
        ] as [(RedisError.Kind, String, String)])
    func `an error behind Sentinels names them and gives one piece of advice`(kind: RedisError.Kind, detail: String, sentence: String) {
        #expect(RedisError(kind, detail, server: "redis+sentinel://a:1,b:2/x").description == sentence)
    }

    @Test(arguments: [
        ("NOPERM this user has no permissions to run the 'subscribe' command", "+subscribe"),
        ("NOPERM this user has no permissions to access one of the channels used as arguments", "&+switch-master"),
    ])
    func `a right that the user of the Sentinels lacks is named first, with the page that has all of them`(
        reply: String, right: String
    ) throws {
        let refused = RedisError(reply: reply).at(.tcp(host: "a", port: 1, tls: false))
        let error = RedisError.noSentinelAnswers(refused).at(
            .sentinel(SentinelAddress(sentinels: [.init(name: "a", port: 1)], primary: "x", tls: false)))
        #expect(
            error.description == "\(right) is missing in the ACL rule of the user at the Sentinel redis://a:1 of redis+sentinel://a:1/x: "
                + "Docs/OPERATIONS.md has the rights of that user, under 'Sentinel'.")
        #expect(error.kind == .notPermitted && !error.isTransient)
    }

    @Test func `a command that waited too long names the last failure and its solution`() {
        let reason = RedisError(.unreachable, "Connection refused", server: "redis://there:1")
        #expect(
            RedisError(unavailableBecause: reason).description
                == "Redis at redis://there:1 has been away for too long. The last attempt: Redis cannot be reached (Connection refused). "
                + "Check the address, and that the server runs and listens there.")
    }

    @Test func `an endless error text is cut, and the arguments it quotes are left out`() {
        #expect(RedisError(reply: "ERR " + String(repeating: "x", count: 10_000)).detail.count == 300)
        let quoting = RedisError(reply: "ERR unknown command 'FETCH', with args beginning with: 'body' 'secret' ")
        #expect(quoting.description == "Redis answered with an error: ERR unknown command 'FETCH'")
    }
}
