import Testing

@testable import GannetRedisClient

@Suite(.timeLimit(.minutes(3))) struct SecrecyTests {
    private static let password = "hunter2-correct-horse"
    private static let configuration = RedisConfiguration(
        address: .tcp(host: "there", port: 1, tls: true),
        credentials: RedisCredentials(user: "me", password: .value(RedisSecret(password))))

    private static func dumped(_ value: Any) -> String {
        var text = ""
        dump(value, to: &text)
        return text
    }

    @Test(
        arguments: [
            ("secret", RedisSecret(password)), ("optional secret", RedisSecret(password) as RedisSecret?),
            ("password", RedisCredentials.Password.value(RedisSecret(password))), ("credentials", configuration.credentials!),
            ("configuration", configuration), ("array", [configuration]), ("dictionary", ["key": RedisSecret(password)]),
            ("read from a URL", try! RedisConfiguration(url: "redis://me:\(password)@there:1")),
            ("command", RedisCommand("AUTH", .string(password))), ("argument", RedisArgument.string(password)),
            ("bytes", RedisArgument.bytes(Array(password.utf8))),
            ("greeting", Greeting(user: "me", password: RedisSecret(password), database: 1, clientName: nil)),
            ("request", Request(.one(RedisCommand("AUTH", .string(password))), deadline: .now)),
            ("error", RedisError(reply: "ERR what is AUTH \(password)?", scrubbing: RedisSecret(password))),
            (
                "old server's error",
                RedisError(reply: "ERR unknown command `HELLO`, with args beginning with: `2`, `AUTH`, `default`, `\(password)`, ")
            ),
        ] as [(String, any Sendable)])
    func `no way of printing shows a password`(what: String, value: any Sendable) {
        for text in ["\(value)", String(describing: value), String(reflecting: value), Self.dumped(value), "\([value])"] {
            #expect(!text.contains("hunter2"), "\(what): \(text)")
            #expect(!text.contains("104, 117, 110"), "\(what): \(text)")
        }
    }

    @Test(arguments: [
        ("say hunter2-correct-horse twice: hunter2-correct-horse", "say ••• twice: •••"),
        ("cut: hunter2-corr", "cut: •••"), ("cut: hunter", "cut: •••"), ("other: hunte", "other: hunte"),
        ("grown: hunter2-correct-horse\u{301}!", "grown: •••\u{301}!"), ("", ""), ("nothing", "nothing"),
        ("hunterhunter2-correct-horse", "••••••"),
    ])
    func `a quoted password is replaced, also when it was cut`(text: String, shown: String) {
        #expect(RedisSecret(Self.password).scrub(text) == shown)
    }

    @Test(arguments: ["", "a", "ERR", "WRONGPASS"]) func `a password that looks like an error changes no error's kind`(password: String) {
        #expect(RedisError(reply: "WRONGPASS invalid", scrubbing: RedisSecret(password)).kind == .authenticationFailed)
    }
}
