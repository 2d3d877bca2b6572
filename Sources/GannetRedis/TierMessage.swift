internal import GannetQueue

/// A message from one process to another about a URL: its kind, the URL's id, and behind a question the channel for the reply.
package struct TierMessage: Sendable {
    enum Kind: UInt8 {
        /// The URL is free. Scripts in Redis send this.
        case freed = 0x75
        case doYouWait = 0x77
        case weWait = 0x79
    }

    let kind: Kind
    let id: URLID
    let channel: String

    init(_ kind: Kind, _ id: URLID, _ channel: String = "") {
        self.kind = kind
        self.id = id
        self.channel = channel
    }

    package var bytes: [UInt8] { [kind.rawValue] + id.bytes + channel.utf8 }

    /// `nil` for bytes that no message has.
    package init?(_ bytes: [UInt8]) {
        guard let kind = bytes.first.flatMap(Kind.init), bytes.count > URLID.count, let id = URLID(Array(bytes[1...URLID.count])),
            let channel = String(validating: bytes[(1 + URLID.count)...], as: UTF8.self)
        else { return nil }
        self.init(kind, id, channel)
    }
}
