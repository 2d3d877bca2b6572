extension EvilBehaviour {
    var tls: EvilScript? {
        switch self {
        // For those who do not mind the certificate.
        case .expiredCertificate, .wrongHostCertificate, .selfSignedCertificate, .outdatedTLS: [.readUntil("\r\n\r\n")] + .answer()
        case .plainInsteadOfTLS: .answer("400 Bad Request", body: "hello, in plain") + [.close]
        case .garbageHandshake: [.send(EvilScript.garbage), .silence]
        // "Change cipher spec", again and again.
        case .endlessHandshake: .flood([0x14, 0x03, 0x03, 0x00, 0x01, 0x01])
        // A record of version 1.2 with the fatal alert "handshake_failure".
        case .alertHandshake: [.send([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28]), .silence]
        case .closesInHandshake: [.read(10), .close]
        case .resetsInHandshake: [.read(10), .reset]
        case .resetsAfterHandshake: [.reset]
        // Whoever is between the two can do this: a body that ends with the connection is whole only after a farewell.
        case .cutWithoutFarewell: .head() + [.send("hell"), .halfClose]
        case .garbageUnderTLS: [.send(EvilScript.garbage), .close]
        default: nil
        }
    }
}
