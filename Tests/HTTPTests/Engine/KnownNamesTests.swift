import Testing

@testable import GannetHTTP

@Suite struct KnownNamesTests {
    private var names = KnownNames()

    @Test("libcurl knows a name while a transfer needs it, and forgets it with the next transfer") mutating func lifetime() throws {
        let addresses = try ["192.0.2.1", "2001:db8::1"].map { try #require(IPAddress($0)) }
        #expect(names.begin(HostPort(host: "h", port: 80), addresses) == ["+h:80:192.0.2.1,[2001:db8::1]"])
        #expect(names.begin(HostPort(host: "h", port: 80), [addresses[0]]) == ["+h:80:192.0.2.1"])
        names.end(HostPort(host: "h", port: 80))
        #expect(names.forget() == [])
        names.end(HostPort(host: "h", port: 80))
        #expect(names.begin(HostPort(host: "h", port: 81), [addresses[0]]) == ["-h:80", "+h:81:192.0.2.1"])
        #expect(names.forget() == [])
        names.end(HostPort(host: "h", port: 81))
        // Wanted again before it was forgotten.
        #expect(names.begin(HostPort(host: "h", port: 81), [addresses[0]]) == ["+h:81:192.0.2.1"])
        names.end(HostPort(host: "h", port: 81))
        names.end(HostPort(host: "unknown", port: 1))
        #expect(names.forget() == ["-h:81"])
    }
}
