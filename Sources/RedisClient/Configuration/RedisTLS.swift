/// How a `rediss://` server proves who it is. Verification has no off switch.
package struct RedisTLS: Sendable, Equatable {
    /// A PEM file of the authorities to trust instead of the system's; `nil` trusts the system's.
    package var authorityFile: String?

    /// The name the certificate must carry, sent as server name indication; `nil` means the address's host.
    package var serverName: String?

    package init(authorityFile: String? = nil, serverName: String? = nil) {
        self.authorityFile = authorityFile
        self.serverName = serverName
    }
}
