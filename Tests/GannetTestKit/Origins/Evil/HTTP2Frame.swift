/// A frame of HTTP/2 as it is on the wire (RFC 9113, section 4.1).
struct HTTP2Frame {
    enum Kind: UInt8 {
        case data = 0
        case headers = 1
        case reset = 3
        case settings = 4
        case pushPromise = 5
        case ping = 6
        case goAway = 7
        case continuation = 9
    }

    var kind: Kind
    var flags: UInt8 = 0
    var stream: UInt8 = 0
    var payload: [UInt8] = []

    static let endHeaders: UInt8 = 4

    var bytes: [UInt8] {
        let length = payload.count
        return [UInt8(length >> 16 & 0xff), UInt8(length >> 8 & 0xff), UInt8(length & 0xff), kind.rawValue, flags, 0, 0, 0, stream]
            + payload
    }
}
