import Testing

@testable import GannetHTTP

struct LookUpTests {
    private static let four = IPAddress.v4(0xc000_0207)
    private static let six = IPAddress.v6(0x2001_0db8 << 96 | 7)

    private func question(_ type: DNSRecordType, name: String = "a.test", server: Int = 0, overTCP: Bool = false) -> LookUp.Question {
        LookUp.Question(name: name, type: type, server: server, overTCP: overTCP)
    }

    private func started(servers: Int = 1, candidates: [String] = ["a.test"], withIPv6: Bool = true) -> LookUp {
        var lookUp = LookUp(candidates: candidates, servers: servers, withIPv6: withIPv6)
        _ = lookUp.start()
        return lookUp
    }

    @Test func `each kind of address fills half the places when there are both`() {
        var lookUp = started()
        let many = (0..<16).map { IPAddress.v4($0) }
        let others = (0..<16).map { IPAddress.v6($0) }
        #expect(lookUp.receive(.addresses(many, ttl: 60), to: question(.a)) == [.hurry])
        let actions = lookUp.receive(.addresses(others, ttl: 30), to: question(.aaaa))
        #expect(actions == [.finish(.success(Array(others.prefix(8) + many.prefix(8))), ttl: 30)])
    }

    @Test func `an answer to a question that is no longer open changes nothing`() {
        var lookUp = started(candidates: ["a.one.test", "a"], withIPv6: false)
        #expect(lookUp.receive(.noSuchName(ttl: 1), to: question(.a, name: "a.one.test")) == [.ask(question(.a, name: "a"))])
        #expect(lookUp.receive(.addresses([Self.four], ttl: 1), to: question(.a, name: "a.one.test")) == [])
        #expect(lookUp.receive(.addresses([Self.six], ttl: 1), to: question(.aaaa, name: "a")) == [])
    }

    @Test func `one kind of address is enough when the other fails`() {
        var lookUp = started()
        #expect(lookUp.receive(.trouble(.serverFailure), to: question(.aaaa)) == [])
        #expect(lookUp.receive(.addresses([Self.four], ttl: 9), to: question(.a)) == [.finish(.success([Self.four]), ttl: 9)])
    }

    @Test func `no address of one kind and a failure of the other is a failure without a lifetime`() {
        var lookUp = started()
        #expect(lookUp.receive(.trouble(.serverFailure), to: question(.aaaa)) == [])
        let actions = lookUp.receive(.noData(ttl: 600), to: question(.a))
        #expect(actions == [.finish(.failure(.serverFailed(.serverFailure)), ttl: nil)])
    }

    @Test func `a name that exists without addresses is no missing name`() {
        var lookUp = started(candidates: ["a.one.test", "a"], withIPv6: false)
        _ = lookUp.receive(.noData(ttl: 60), to: question(.a, name: "a.one.test"))
        let actions = lookUp.receive(.noSuchName(ttl: 30), to: question(.a, name: "a"))
        #expect(actions == [.finish(.failure(.noAddress), ttl: 30)])
    }

    @Test func `the question for IPv4 settles that a name does not exist`() {
        var lookUp = started()
        #expect(lookUp.receive(.noSuchName(ttl: 5), to: question(.aaaa)) == [])
        #expect(lookUp.receive(.noSuchName(ttl: 7), to: question(.a)) == [.finish(.failure(.noSuchName), ttl: 5)])

        var other = started()
        #expect(other.receive(.noSuchName(ttl: 7), to: question(.a)) == [.finish(.failure(.noSuchName), ttl: 7)])
    }

    @Test func `each server with trouble is asked once`() {
        var lookUp = started(servers: 3, withIPv6: false)
        #expect(lookUp.receive(.trouble(.refused), to: question(.a)) == [.ask(question(.a, server: 1))])
        #expect(lookUp.receive(.trouble(.serverFailure), to: question(.a, server: 1)) == [.ask(question(.a, server: 2))])
        let actions = lookUp.receive(.trouble(.refused), to: question(.a, server: 2))
        #expect(actions == [.finish(.failure(.serverFailed(.refused)), ttl: nil)])
    }

    @Test func `unsent queries are sent again a few times, both kinds together`() {
        var lookUp = started()
        for _ in 0..<LookUp.maximumResends {
            #expect(lookUp.receive(.unreachable, to: question(.a)) == [.resendLater])
            #expect(lookUp.receive(.unreachable, to: question(.aaaa)) == [])
            #expect(Set(lookUp.resend()) == [.ask(question(.a)), .ask(question(.aaaa))])
            #expect(lookUp.resend() == [])
        }
        #expect(lookUp.receive(.unreachable, to: question(.a)) == [])
        #expect(lookUp.receive(.unreachable, to: question(.aaaa)) == [.finish(.failure(.noNameServer), ttl: nil)])
    }

    @Test func `an answer cut short over TCP, too, is malformed`() {
        var lookUp = started(withIPv6: false)
        #expect(lookUp.receive(.truncated, to: question(.a)) == [.ask(question(.a, overTCP: true))])
        let actions = lookUp.receive(.truncated, to: question(.a, overTCP: true))
        #expect(actions == [.finish(.failure(.serverFailed(.nonsense)), ttl: nil)])
    }

    @Test func `a query that was given up early is sent again`() {
        var lookUp = started(withIPv6: false)
        #expect(lookUp.receive(.silence, to: question(.a)) == [.ask(question(.a))])
    }
}
