internal import GannetBase

/// The ports of an `EvilOrigin`: one for plain HTTP, one for HTTPS, and one for each behaviour that needs its own.
struct EvilDoors: Sendable {
    struct Listener: Sendable {
        let descriptor: Int32
        /// Nil where a request's path decides.
        let behaviour: EvilBehaviour?
        /// Nil without TLS.
        let identity: TLSIdentity?
    }

    let listeners: [Listener]
    /// Descriptors that only have to stay open.
    private let held: [Int32]
    private let ports: [EvilBehaviour: UInt16]
    let plainPort: UInt16
    let securePort: UInt16

    init(_ certificates: Certificates) throws {
        var identities: [EvilDoor.TLS: TLSIdentity] = [:]
        for kind in EvilDoor.TLS.allCases { identities[kind] = try kind.identity(certificates) }

        let plain = Listener(descriptor: try Self.listen(), behaviour: nil, identity: nil)
        let secure = Listener(descriptor: try Self.listen(), behaviour: nil, identity: identities[.good])
        var listeners = [plain, secure]
        var held: [Int32] = []
        var ports: [EvilBehaviour: UInt16] = [:]
        plainPort = Socket.port(of: plain.descriptor)
        securePort = Socket.port(of: secure.descriptor)
        for behaviour in EvilBehaviour.allCases {
            let descriptor: Int32
            switch behaviour.door {
            case .plain:
                descriptor = plain.descriptor
            case .secure:
                descriptor = secure.descriptor
            case .own:
                descriptor = try Self.listen()
                listeners.append(Listener(descriptor: descriptor, behaviour: behaviour, identity: nil))
            case .ownSecure(let kind):
                descriptor = try Self.listen()
                listeners.append(Listener(descriptor: descriptor, behaviour: behaviour, identity: identities[kind]))
            case .closed:
                descriptor = try Socket.occupy(.loopback(port: 0))
                held.append(descriptor)
            case .full:
                descriptor = try Socket.listen(on: .loopback(port: 0), line: 0)
                // One may always wait; the next one's first packet gets no answer.
                held += [descriptor, try Socket.connect(to: .loopback(port: Socket.port(of: descriptor)))]
            }
            ports[behaviour] = Socket.port(of: descriptor)
        }
        self.listeners = listeners
        self.held = held
        self.ports = ports
    }

    func port(of behaviour: EvilBehaviour) -> UInt16 { ports[behaviour] ?? plainPort }

    func close() {
        for listener in listeners { closeSocket(listener.descriptor) }
        for descriptor in held { closeSocket(descriptor) }
    }

    /// Does not block when who knocked has gone before being accepted.
    private static func listen() throws(KitError) -> Int32 {
        let descriptor = try Socket.listen(on: .loopback(port: 0))
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        return descriptor
    }
}

extension EvilDoor.TLS {
    fileprivate func identity(_ certificates: Certificates) throws(KitError) -> TLSIdentity {
        switch self {
        case .good: try TLSIdentity(certificates.good)
        case .http2: try TLSIdentity(certificates.good, speaksHTTP2: true)
        case .outdated: try TLSIdentity(certificates.good, isOutdated: true)
        case .expired: try TLSIdentity(certificates.expired)
        case .wrongHost: try TLSIdentity(certificates.wrongHost)
        case .selfSigned: try TLSIdentity(certificates.selfSigned)
        }
    }
}

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

    /// The handshake of a port of its own.
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

    /// The scheme of its URL. A door that breaks the handshake is for clients that use https.
    var scheme: String {
        switch door {
        case .secure, .ownSecure: "https"
        case .own where ![.closesAtOnce, .resetsAtOnce, .speaksFirst].contains(self): "https"
        default: "http"
        }
    }
}
