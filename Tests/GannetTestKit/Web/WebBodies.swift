/// The bytes of all bodies of a made-up web. They are made once, and connections send parts of them.
final class WebBodies: @unchecked Sendable {
    // Nothing changes the bytes after `init`, and they live as long as this object.
    let filling: UnsafeRawBufferPointer
    let robots: UnsafeRawBufferPointer
    let hugeRobots: UnsafeRawBufferPointer

    init() {
        filling = Self.kept(SeededBytes.next(seed: 1, count: 1 << 20))
        let rules = "User-agent: *\nDisallow: /private/\n"
        robots = Self.kept(Array(rules.utf8))
        let line = Array("Disallow: /nothing-that-the-list-has/\n".utf8)
        hugeRobots = Self.kept(Array(rules.utf8) + repeated(line, (500 << 10) / line.count - 1))
    }

    deinit {
        for bytes in [filling, robots, hugeRobots] { bytes.deallocate() }
    }

    private static func kept(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        copy.copyBytes(from: bytes)
        return UnsafeRawBufferPointer(copy)
    }
}

extension SeededBytes {
    fileprivate static func next(seed: UInt64, count: Int) -> [UInt8] {
        var bytes = SeededBytes(seed: seed)
        return bytes.next(count: count)
    }
}
