/// What is asked of a name server.
enum DNSRecordType: UInt16, Sendable, Hashable {
    case a = 1
    case aaaa = 28
    /// The name servers of a name; for the root, what every name server can tell.
    case ns = 2
}
