import GannetPictures

extension FuzzTarget {
    /// The input is an image, or is not. Scripts/fuzz adds the samples of ImageProbe's tests to these few.
    static let images = FuzzTarget(name: "images", maximumLength: 16 * 1024) {
        [
            Array("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1\" height=\"2\"/>".utf8),
            Array("GIF89a".utf8) + [
                1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3b,
            ],
            [0x89] + Array("PNG\r\n\u{1a}\n".utf8) + [0, 0, 0, 13] + Array("IHDR".utf8) + [0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0],
            [0xff, 0xd8, 0xff, 0xe0, 0, 16] + Array("JFIF".utf8) + [0, 1, 1, 0, 0, 1, 0, 1, 0, 0],
            Array("RIFF".utf8) + [26, 0, 0, 0] + Array("WEBPVP8L".utf8) + [13, 0, 0, 0, 0x2f, 0, 0, 0, 0x10, 7, 0x10, 0x11, 0x11, 0x88],
            [0, 0, 0, 0x20] + Array("ftypavif".utf8) + [0, 0, 0, 0] + Array("avifmif1miaf".utf8),
            Array("II*".utf8) + [0, 8, 0, 0, 0, 0, 0], Array("BM".utf8) + [58, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0],
            [0, 0, 1, 0, 1, 0, 1, 1, 0, 0, 1, 0, 32, 0, 40, 0, 0, 0, 22, 0, 0, 0],
        ]
    } check: { (input) throws(BrokenInvariant) in
        if let violation = input.withUnsafeBytes({ ImageProbe().violation(in: $0) }) { throw BrokenInvariant(description: violation) }
    }
}
