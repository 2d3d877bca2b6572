import Testing

@testable import GannetHTTP

@Suite struct AddressGuardTests {
    private static let judged: [(String, AddressGuard.Reason?)] = [
        // Public
        ("1.1.1.1", nil), ("8.8.8.8", nil), ("9.255.255.255", nil), ("11.0.0.0", nil), ("100.63.255.255", nil), ("100.128.0.0", nil),
        ("126.255.255.255", nil), ("128.0.0.0", nil), ("168.63.129.15", nil), ("169.253.255.255", nil), ("169.255.0.0", nil),
        ("172.15.255.255", nil), ("172.32.0.0", nil), ("191.255.255.255", nil), ("192.0.1.0", nil), ("192.167.255.255", nil),
        ("192.169.0.0", nil), ("198.17.255.255", nil), ("198.20.0.0", nil), ("223.255.255.255", nil),
        ("2606:4700:4700::1111", nil), ("2a00:1450:4001:81b::200e", nil), ("2001:4860:4860::8888", nil), ("2001:200::1", nil),
        ("3ffe::1", nil),
        // IPv4
        ("0.0.0.0", .unspecified), ("0.0.0.1", .reserved), ("0.255.255.255", .reserved), ("10.0.0.0", .privateNetwork),
        ("10.255.255.255", .privateNetwork), ("100.64.0.0", .carrierNAT), ("100.127.255.255", .carrierNAT),
        ("100.100.100.200", .metadata), ("127.0.0.1", .loopback), ("127.255.255.255", .loopback), ("168.63.129.16", .metadata),
        ("169.254.0.0", .linkLocal), ("169.254.255.255", .linkLocal), ("169.254.169.254", .metadata), ("172.16.0.0", .privateNetwork),
        ("172.31.255.255", .privateNetwork), ("192.0.0.1", .reserved), ("192.0.0.192", .metadata), ("192.0.2.1", .documentation),
        ("192.88.99.1", .reserved), ("192.168.0.1", .privateNetwork), ("192.168.255.255", .privateNetwork), ("198.18.0.0", .benchmark),
        ("198.19.255.255", .benchmark), ("198.51.100.7", .documentation), ("203.0.113.7", .documentation), ("224.0.0.1", .multicast),
        ("239.255.255.255", .multicast), ("240.0.0.0", .reserved), ("255.255.255.255", .reserved),
        // IPv6
        ("::", .unspecified), ("::1", .loopback), ("::2", .embedded), ("100::1", .reserved), ("4000::1", .reserved),
        ("fc00::1", .privateNetwork), ("fdff:ffff::1", .privateNetwork), ("fd00:ec2::254", .metadata), ("fe80::1", .linkLocal),
        ("febf::1", .linkLocal), ("fec0::1", .siteLocal), ("feff::1", .siteLocal), ("ff02::1", .multicast), ("ff0e::1", .multicast),
        ("2001:db8::1", .documentation), ("3fff::1", .documentation), ("2001:2::1", .benchmark), ("2001:10::1", .reserved),
        ("5f00::1", .reserved),
        // IPv4 within IPv6
        ("::ffff:8.8.8.8", nil), ("::ffff:127.0.0.1", .loopback), ("::ffff:10.1.2.3", .privateNetwork), ("::ffff:0.0.0.0", .unspecified),
        ("::ffff:169.254.169.254", .metadata), ("::8.8.8.8", .embedded), ("::127.0.0.1", .embedded), ("::ffff:0:127.0.0.1", .reserved),
        ("2002:808:808::1", nil), ("2002:7f00:1::1", .loopback), ("2002:a00:1::", .privateNetwork), ("2002:c0a8:101::1", .privateNetwork),
        ("64:ff9b::8.8.8.8", nil), ("64:ff9b::127.0.0.1", .loopback), ("64:ff9b::169.254.169.254", .metadata),
        ("64:ff9b:1::8.8.8.8", .embedded), ("64:ff9b:1:ffff::10.0.0.1", .embedded), ("64:ff9b:2::1", .reserved),
        // Teredo: server 8.8.8.8 with client 8.8.4.4, then 127.0.0.1 as client and as server.
        ("2001:0:808:808::f7f7:fbfb", nil), ("2001:0:808:808::80ff:fffe", .loopback), ("2001:0:7f00:1::f7f7:fbfb", .loopback),
        // ISATAP
        ("2606:4700::5efe:127.0.0.1", .loopback), ("2606:4700::200:5efe:10.0.0.1", .privateNetwork), ("2606:4700::5efe:8.8.8.8", nil),
    ]

    @Test("An address is refused for its reason, and a public one is not", arguments: judged)
    func judgement(text: String, reason: AddressGuard.Reason?) throws {
        let address = try #require(IPAddress(text))
        #expect(try AddressGuard().refusal(of: address) == reason)
    }

    @Test(
        "A network that the user permits is permitted, and no address beside it",
        arguments: [
            ("10.0.0.0/8", "10.200.0.1", true), ("10.0.0.0/8", "11.0.0.1", true), ("10.0.0.0/8", "192.168.0.1", false),
            ("127.0.0.0/8", "::1", false), ("::1/128", "::1", true), ("::1", "127.0.0.1", false), ("fd00::/8", "fd12::1", true),
            ("fd00::/8", "fc12::1", false), ("10.0.0.1", "10.0.0.1", true), ("10.0.0.1", "10.0.0.2", false),
            ("127.0.0.0/8", "::ffff:127.0.0.1", true), ("::ffff:127.0.0.0/104", "127.0.0.1", true),
            ("10.0.0.0/8", "64:ff9b::10.0.0.1", true),
            ("10.0.0.0/8", "2002:a00:1::1", true), ("10.0.0.0/8", "::10.0.0.1", false), ("0.0.0.0/0", "127.0.0.1", true),
            ("0.0.0.0/0", "::1", false), ("::/0", "fe80::1", true), ("::/0", "10.0.0.1", false), ("all", "127.0.0.1", true),
            ("all", "::1", true),
            ("64:ff9b:1::/48", "64:ff9b:1::10.0.0.1", true),
        ])
    func permission(network: String, text: String, permitted: Bool) throws {
        let address = try #require(IPAddress(text))
        #expect((try AddressGuard(parsing: [network]).refusal(of: address) == nil) == permitted)
    }

    @Test(
        "An address text that other tools read differently is no address",
        arguments: [
            "", " ", "1.2.3", "0177.0.0.1", "0x7f.1", "2130706433", "1.2.3.4.5", "256.1.1.1", "1.2.3.4 ", "::g", "[::1]", "fe80::1%eth0",
            "1.2.3.4\0", "a",
        ])
    func junkAddress(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test(
        "A network is read and printed",
        arguments: [
            ("10.0.0.0/8", "10.0.0.0/8"), ("10.0.0.1", "10.0.0.1/32"), ("::1", "::1/128"), ("FD00::/8", "fd00::/8"),
            ("0.0.0.0/0", "0.0.0.0/0"),
            ("::/0", "::/0"), ("::ffff:10.0.0.0/104", "10.0.0.0/8"), ("::ffff:1.2.3.4", "1.2.3.4/32"),
        ])
    func network(text: String, printed: String) throws {
        #expect(try NetworkPrefix(parsing: text).description == printed)
    }

    @Test(
        "A text that is not a network is refused with a sentence that quotes it",
        arguments: [
            "", "/", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "10.0.0.0/ 8", "10.0.0.0/０", "::/129",
            "10.0.0.1/8", "::1/64", "localhost", "10/8", "10.0.0.0/99999999999999999999", "all ", "10.0.0.0/0x8",
        ])
    func junkNetwork(text: String) throws {
        let error = #expect(throws: InvalidOptions.self) { try NetworkPrefix(parsing: text) }
        #expect(error?.description.contains("'\(text)'") == true)
        #expect(error?.description.hasSuffix(".") == true)
    }
}
