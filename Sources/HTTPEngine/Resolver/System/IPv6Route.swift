import CAres
internal import GannetBasics

/// Whether this machine has a route to the IPv6 internet. It looks again now and then: a laptop gains and loses it.
struct IPv6Route {
    private let interval: Duration = .seconds(30)
    private var nextLook: ContinuousClock.Instant?
    private var exists = false

    mutating func exists(at now: ContinuousClock.Instant) -> Bool {
        if let nextLook, now < nextLook { return exists }
        nextLook = now + interval
        // Without a descriptor to look with, the last answer holds.
        exists = Self.look() ?? exists
        return exists
    }

    /// Connecting a datagram socket sends nothing: it only asks the kernel for a route.
    private static func look() -> Bool? {
        let descriptor = gannet_datagram_socket(AF_INET6)
        guard descriptor >= 0 else { return SystemLimit.isShortage(errno) ? nil : false }
        defer { close(descriptor) }
        var target = sockaddr_in6()
        target.sin6_family = sa_family_t(AF_INET6)
        target.sin6_port = UInt16(53).bigEndian
        // A root name server (a.root-servers.net): as global as an address can be.
        guard inet_pton(AF_INET6, "2001:503:ba3e::2:30", &target.sin6_addr) == 1 else { return false }
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        var storage = sockaddr_in6()
        let isConnected = withUnsafePointer(to: &target) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, length) == 0 }
        }
        guard isConnected else { return false }
        let address = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { source in
                getsockname(descriptor, source, &length) == 0 ? IPAddress(socketAddress: source, length: Int(length)) : nil
            }
        }
        // A source that is itself local leads nowhere.
        return address.map(SpecialNetworks.globalUnicast.contains) ?? false
    }
}
