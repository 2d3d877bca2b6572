import GannetTestKit
import Testing

@testable import GannetRedisClient

@Suite(.timeLimit(.minutes(3))) struct RedisURLTests {
    struct Good: Sendable {
        let url: String
        let address: RedisAddress
        var database = 0
        var user: String?
        var password: String?
    }

    @Test(arguments: [
        Good(url: "redis://localhost", address: .tcp(host: "localhost", port: 6379, tls: false)),
        Good(url: "REDIS://localhost/", address: .tcp(host: "localhost", port: 6379, tls: false)),
        Good(url: "rediss://cache.example:6380/3", address: .tcp(host: "cache.example", port: 6380, tls: true), database: 3),
        Good(url: "redis://10.0.0.1:1", address: .tcp(host: "10.0.0.1", port: 1, tls: false)),
        Good(url: "redis://[::1]:7000/15", address: .tcp(host: "::1", port: 7000, tls: false), database: 15),
        Good(url: "redis://[2001:db8::7]", address: .tcp(host: "2001:db8::7", port: 6379, tls: false)),
        Good(url: "redis://:pw@h", address: .tcp(host: "h", port: 6379, tls: false), password: "pw"),
        Good(url: "redis://me:pw@h:9/1", address: .tcp(host: "h", port: 9, tls: false), database: 1, user: "me", password: "pw"),
        Good(
            url: "redis://m%40e:p%40%3A%2F%23%25%3Fw@[::1]", address: .tcp(host: "::1", port: 6379, tls: false), user: "m@e",
            password: "p@:/#%?w"),
        Good(url: "redis://:gr%C3%BCn@h", address: .tcp(host: "h", port: 6379, tls: false), password: "grün"),
        Good(url: "unix:///run/redis.sock", address: .unix(path: "/run/redis.sock")),
        Good(url: "unix:///run/redis.sock?db=4", address: .unix(path: "/run/redis.sock"), database: 4),
        Good(url: "unix://me:pw@/run/redis.sock", address: .unix(path: "/run/redis.sock"), user: "me", password: "pw"),
        Good(url: "unix:///a%20b", address: .unix(path: "/a b")),
    ])
    func `an address is read`(good: Good) throws {
        let configuration = try RedisConfiguration(url: good.url)
        #expect(configuration.address == good.address)
        #expect(configuration.database == good.database)
        #expect(configuration.credentials?.user == good.user)
        #expect(try configuration.credentials?.currentPassword().reveal() == good.password)
    }

    @Test func `several hosts are nodes of a cluster, or Sentinels`() throws {
        let cluster = try RedisConfiguration(url: "rediss://me:pw@a,b:7000,[::1]:7001/0")
        func tcp(_ host: String, _ port: Int) -> RedisAddress { .tcp(host: host, port: port, tls: true) }
        #expect(cluster.address == tcp("a", 6379) && cluster.seeds == [tcp("b", 7000), tcp("::1", 7001)])
        #expect(cluster.credentials?.user == "me")
        let sentinel = try RedisConfiguration(url: "redis+sentinel://:pw@a,b:7000/my%20main/3")
        let hosts = [SentinelAddress.Host(name: "a", port: 26379), SentinelAddress.Host(name: "b", port: 7000)]
        #expect(sentinel.address == .sentinel(SentinelAddress(sentinels: hosts, primary: "my main", tls: false)))
        #expect(sentinel.database == 3 && sentinel.seeds.isEmpty)
        #expect(try sentinel.credentials?.currentPassword().reveal() == "pw")
        #expect(sentinel.address.description == "redis+sentinel://a:26379,b:7000/my main")
        let secure = try RedisConfiguration(url: "rediss+sentinel://a/m")
        #expect(secure.address.hasTLS && secure.database == 0)
    }

    @Test(arguments: ["redis://me@h", "redis://me:other@h"])
    func `a password in a file replaces the one in the address, for the address's user`(url: String) throws {
        let folder = try TemporaryFolder()
        let configuration = try RedisConfiguration(url: url, passwordFile: folder.write("secret\n".utf8, to: "password"))
        #expect(configuration.credentials?.user == "me")
        #expect(try configuration.credentials?.currentPassword().reveal() == "secret")
    }

    @Test(arguments: [
        "", "redis", "localhost:6379", "redis:/h", "http://s3cret@h", "redis://", "redis://:s3cret@", "redis://h:0", "redis://h:65536",
        "redis://h:99999999999999999999", "redis://h:x", "redis://h:", "redis://h/x", "redis://h/-1", "redis://h/99999999999999999999",
        "redis://h/1000001", "redis://h/0/1", "redis://h?db=1", "redis://h#1", "redis://s3cret@h", "redis://me:s3cr@et@h",
        "redis://me:s3c/ret@h", "redis://:s3c?ret@h", "redis://:s3c#ret@h", "redis://:6379/s3cret@h", "redis://me:s3cret%@h",
        "redis://me:s3cret%zz@h", "redis://:s3cret%FF@h", "redis://me%3As3cret%40h", "redis://[::1", "redis://h\u{0}s3cret",
        "redis://a b", "unix://", "unix:///", "unix://relative", "unix://s3cret/run/x", "unix:///x?db=a", "unix:///x?s3cret=1",
        "unix:///x?db=1&db=2", "unix:///" + String(repeating: "x", count: 103), "redis://me:s3cret@h:1:2",
        "redis://a,", "redis://,a", "redis://a,,b", "redis://:s3cret@a,b:0", "unix://a,b/x", "redis+sentinel://a",
        "redis+sentinel://a/", "redis+sentinel://:s3cret@a//3", "redis+sentinel://a/m/x", "redis+sentinel://a/m?db=3",
        "redis://" + Array(repeating: "a", count: 65).joined(separator: ","),
    ])
    func `a text that is not an address is refused without quoting a secret`(url: String) {
        #expect {
            _ = try RedisConfiguration(url: url)
        } throws: { error in
            guard let error = error as? RedisError else { return false }
            return error.kind == .invalidConfiguration && !error.description.contains("s3c") && error.description.count > 20
        }
    }
}
