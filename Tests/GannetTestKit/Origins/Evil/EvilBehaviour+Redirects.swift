extension EvilBehaviour {
    func redirect(_ request: EvilRequest) -> EvilScript? {
        switch self {
        case .redirectLoop: Self.to(path)
        case .growingRedirect: Self.to(request.target + "/" + String(repeating: "x", count: 1000))
        case .pingPong: Self.to(request.secureURL(Self.securePingPong.path))
        case .securePingPong: Self.to(request.plainURL(Self.pingPong.path))
        // What a URL's credentials and a request's own headers must not follow to.
        case .redirectToOtherHost: Self.to(request.plainURL(Self.echo.path, host: "localhost"))
        case .redirectWithCredentials: Self.to("http://evil:secret@localhost:\(request.plainPort)\(Self.echo.path)")
        case .redirectWithMisleadingUser: Self.to("http://127.0.0.1:\(request.plainPort)@10.0.0.1/")
        case .redirectWithMisleadingBackslash: Self.to("http://10.0.0.1\\@127.0.0.1:\(request.plainPort)\(Self.echo.path)")
        case .redirectWithoutLocation: .answer("302 Found")
        case .redirectToNothing: Self.to("")
        case .redirectToLongURL: Self.to("\(Self.echo.path)?\(String(repeating: "x", count: 65_536))")
        case .redirectToEncodedLineBreak: Self.to("\(Self.echo.path)?a%0d%0aX-Smuggled:%20b")
        case .redirectToControl: Self.to("\(Self.echo.path)?a\u{1}\u{1b}b")
        case .redirectToNonASCII: Self.to("\(Self.echo.path)?é漢")
        case .redirectToSpaces: Self.to("\(Self.echo.path)?a b  c")
        case .redirectToNUL: Self.to("\(Self.good.path)\0.example/")
        case .redirectToFragment: Self.to("\(Self.good.path)#fragment")
        case .redirectWithoutScheme: Self.to("//127.0.0.1:\(request.plainPort)\(Self.good.path)")
        case .twoLocations: .answer("302 Found", "Location: \(Self.good.path)", "Location: file:///etc/passwd")
        // A name that a resolver of the test's answers with this host's address first and with a private one then.
        case .redirectToRebindingName: Self.to(request.plainURL(Self.good.path, host: "rebinding.test"))
        default: forbidden(request) ?? unusable
        }
    }

    /// To where nobody outside must send a client.
    private func forbidden(_ request: EvilRequest) -> EvilScript? {
        switch self {
        case .redirectToPrivate: Self.to("http://10.0.0.1/")
        case .redirectToMetadata: Self.to("http://169.254.169.254/latest/meta-data/")
        case .redirectToLoopback: Self.to(request.plainURL(Self.good.path, host: "127.0.0.2"))
        case .redirectToDecimalAddress: Self.to("http://167772161/")
        case .redirectToHexAddress: Self.to("http://0x0a000001/")
        case .redirectToOctalAddress: Self.to("http://012.0.0.1/")
        case .redirectToShortAddress: Self.to("http://10.1/")
        case .redirectToMappedAddress: Self.to("http://[::ffff:10.0.0.1]/")
        case .redirectToNAT64Address: Self.to("http://[64:ff9b::10.0.0.1]/")
        case .redirectToUnspecified: Self.to(request.plainURL(Self.good.path, host: "0.0.0.0"))
        // International names are mapped before they are looked up, these to an address.
        case .redirectToFullWidthAddress: Self.to("http://１０。０。０。１/")
        case .redirectToZone: Self.to("http://[fe80::1%25lo]/")
        case .redirectToFile: Self.to("file:///etc/passwd")
        case .redirectToFTP: Self.to("ftp://127.0.0.1/")
        case .redirectToGopher: Self.to("gopher://127.0.0.1:6379/_FLUSHALL")
        case .redirectToData: Self.to("data:text/plain,hello")
        case .redirectToScript: Self.to("javascript:alert(1)")
        default: nil
        }
    }

    private var unusable: EvilScript? {
        switch self {
        case .redirectToPortZero: Self.to("http://127.0.0.1:0/")
        case .redirectToPortTooHigh: Self.to("http://127.0.0.1:99999/")
        case .redirectToEmptyHost: Self.to("http://:80/")
        default: nil
        }
    }

    private static func to(_ location: String) -> EvilScript { .answer("302 Found", "Location: \(location)", body: "") }
}
