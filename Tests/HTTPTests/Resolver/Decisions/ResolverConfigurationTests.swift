import Testing

@testable import GannetHTTP

struct ResolverConfigurationTests {
    @Test func `the system's file is read as the C library does`() {
        let configuration = ResolverConfiguration(
            parsing: """
                # comment
                domain gone.test
                nameserver 192.0.2.1   ; comment
                nameserver nonsense
                nameserver fe80::1%eth0
                nameserver 2001:db8::1
                search One.test two.test. bad..test
                options ndots:5 timeout:1 attempts:2 rotate ndots:x

                """)
        #expect(configuration.servers.map(\.text) == ["192.0.2.1:53", "[2001:db8::1]:53"])
        #expect(configuration.search == ["one.test", "two.test"])
        #expect(configuration.ndots == 5)
        #expect(configuration.wait == .seconds(1))
        #expect(configuration.rounds == 2)
    }

    @Test(arguments: [(0, 0, 1, 1), (1, 1, 1, 1), (15, 15, 15, 5), (99, 15, 30, 5)])
    func `numbers in the file have bounds, and a zero is a number`(number: Int, ndots: Int, seconds: Int, rounds: Int) {
        let configuration = ResolverConfiguration(parsing: "options ndots:\(number) timeout:\(number) attempts:\(number)")
        #expect(configuration.ndots == ndots)
        #expect(configuration.wait == .seconds(seconds))
        #expect(configuration.rounds == rounds)
    }

    @Test func `without a server in the file there is one on this machine`() {
        #expect(ResolverConfiguration(parsing: "").servers.map(\.text) == ["127.0.0.1:53"])
    }

    @Test func `a file of any length yields few servers and domains`() {
        let text =
            (0..<200).map { "nameserver 192.0.2.\($0)\n" }.joined() + "search " + (0..<200).map { "d\($0).test" }.joined(separator: " ")
        let configuration = ResolverConfiguration(parsing: text)
        #expect(configuration.servers.count == ResolverConfiguration.maximumServers)
        #expect(configuration.search.count == ResolverConfiguration.maximumSearch)
    }

    @Test(arguments: [
        ("a", 1, ["a.one.test", "a.two.test", "a"]), ("a.", 1, ["a"]), ("a.b", 1, ["a.b"]),
        ("a.b", 2, ["a.b", "a.b.one.test", "a.b.two.test"]),
        ("a.b.", 5, ["a.b"]), ("a", 0, ["a"]),
    ])
    func `a name is completed only if it is short`(name: String, ndots: Int, candidates: [String]) {
        var configuration = ResolverConfiguration(parsing: "search one.test two.test")
        configuration.ndots = ndots
        #expect(configuration.candidates(for: name) == candidates)
    }

    @Test func `a completed name is no longer than names may be`() {
        let configuration = ResolverConfiguration(parsing: "search \(String(repeating: "a.", count: 120))test")
        #expect(configuration.candidates(for: "short-name-of-sixteen") == ["short-name-of-sixteen"])
    }

    @Test(arguments: [1, 2, 3]) func `all rounds at all servers fit into the time of a look-up`(servers: Int) {
        var configuration = ResolverConfiguration(parsing: (0..<servers).map { "nameserver 192.0.2.\($0)\n" }.joined())
        let (wait, rounds) = configuration.schedule(timeout: .seconds(10))
        let whole = wait * (servers * ((1 << rounds) - 1))
        #expect(whole <= .seconds(10) && whole > .milliseconds(9900))
        configuration.wait = .seconds(1)
        configuration.rounds = 2
        #expect(configuration.schedule(timeout: .seconds(10)) == (.seconds(1), 2))
        configuration.wait = .seconds(30)
        #expect(configuration.schedule(timeout: .seconds(10)).wait <= .seconds(5))
    }
}
