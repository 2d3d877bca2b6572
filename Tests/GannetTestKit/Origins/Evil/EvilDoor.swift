/// How a behaviour of an `EvilOrigin` is come to.
enum EvilDoor: Hashable, Sendable {
    /// By its path on the port for plain HTTP.
    case plain
    /// By its path on the port for HTTPS.
    case secure
    /// On a port of its own; it acts when a connection comes.
    case own
    /// The same under TLS, once both have shaken hands.
    case ownSecure(TLS)
    /// On a port of its own where nobody listens.
    case closed
    /// On a port of its own where nobody accepts, and the line of those who wait is full.
    case full

    /// What a port of its own shows in the handshake.
    enum TLS: CaseIterable, Hashable, Sendable {
        case good, http2, outdated, expired, wrongHost, selfSigned
    }
}

extension EvilBehaviour {
    var door: EvilDoor {
        switch self {
        case .refusesConnections: .closed
        case .neverAccepts: .full
        case .silentHandshake, .slowHandshake, .plainInsteadOfTLS, .garbageHandshake, .endlessHandshake, .alertHandshake,
            .closesInHandshake,
            .resetsInHandshake, .closesAtOnce, .resetsAtOnce, .speaksFirst:
            .own
        case .expiredCertificate: .ownSecure(.expired)
        case .wrongHostCertificate: .ownSecure(.wrongHost)
        case .selfSignedCertificate: .ownSecure(.selfSigned)
        case .outdatedTLS: .ownSecure(.outdated)
        case .resetsAfterHandshake: .ownSecure(.good)
        case .http2GoAway, .http2Refused, .http2Reset, .http2Garbage, .http2Silent, .http2Pings, .http2Settings, .http2Continuations,
            .http2EmptyData, .http2EndlessBody, .http2HeaderBomb, .http2Push:
            .ownSecure(.http2)
        case .cutWithoutFarewell, .garbageUnderTLS, .securePingPong, .secureExtraAnswer: .secure
        default: .plain
        }
    }

    /// The scheme of its URL. What only ever breaks the handshake is for those who come with https.
    var scheme: String {
        switch door {
        case .secure, .ownSecure: "https"
        case .own where ![.closesAtOnce, .resetsAtOnce, .speaksFirst].contains(self): "https"
        default: "http"
        }
    }
}
