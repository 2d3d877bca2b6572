extension EvilBehaviour {
    var http2: EvilScript? {
        let rest: EvilScript? =
            switch self {
            // "The last stream I looked at was none."
            case .http2GoAway: Self.send(.goAway, [0, 0, 0, 0, 0, 0, 0, 0]) + [.silence]
            case .http2Refused: Self.send(.reset, stream: 1, [0, 0, 0, 7]) + [.silence]
            case .http2Reset: Self.ok + Self.send(.data, stream: 1, [0x78]) + Self.send(.reset, stream: 1, [0, 0, 0, 2]) + [.silence]
            case .http2Garbage: .flood(EvilScript.garbage)
            case .http2Silent: [.silence]
            case .http2Pings: .flood(HTTP2Frame(kind: .ping, payload: Array("evilevil".utf8)).bytes)
            case .http2Settings: .flood(HTTP2Frame(kind: .settings).bytes)
            case .http2Continuations:
                Self.send(.headers, stream: 1, [Self.status200])
                    + .flood(HTTP2Frame(kind: .continuation, stream: 1, payload: [0, 1, 0x61, 1, 0x62]).bytes)
            case .http2EmptyData: Self.ok + .flood(HTTP2Frame(kind: .data, stream: 1).bytes)
            case .http2EndlessBody:
                Self.ok + .flood(HTTP2Frame(kind: .data, stream: 1, payload: Array(repeating: 0x78, count: 16_384)).bytes)
            case .http2HeaderBomb:
                Self.send(.headers, stream: 1, [Self.status200] + Self.longHeader + Array(repeating: Self.newestHeader, count: 10_000))
                    + .flood(HTTP2Frame(kind: .continuation, stream: 1, payload: Array(repeating: Self.newestHeader, count: 16_384)).bytes)
            case .http2Push: Self.send(.pushPromise, flags: HTTP2Frame.endHeaders, stream: 1, [0, 0, 0, 2, 0x82]) + [.silence]
            default: nil
            }
        // A client's first request ends with the headers of stream 1, whose number is the first of its kind in what clients send.
        return rest.map { Self.send(.settings, []) + [.readUntil("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), .readUntil([0, 0, 0, 1])] + $0 }
    }

    private static func send(_ kind: HTTP2Frame.Kind, flags: UInt8 = 0, stream: UInt8 = 0, _ payload: [UInt8]) -> EvilScript {
        [.send(HTTP2Frame(kind: kind, flags: flags, stream: stream, payload: payload).bytes)]
    }

    private static let ok = send(.headers, flags: HTTP2Frame.endHeaders, stream: 1, [status200])

    // HPACK (RFC 7541): a field of the static table; one of 4,000 bytes that enters the dynamic table; and that one again, in one byte.
    private static let status200: UInt8 = 0x88
    private static let longHeader: [UInt8] = [0x40, 1, 0x61, 0x7f, 0xa1, 0x1e] + Array(repeating: 0x62, count: 4000)
    private static let newestHeader: UInt8 = 0xbe
}

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
