/// How large a picture may be. A few hundred bytes can announce billions of pixels, for which a decoder would take memory.
public struct ImageLimits: Sendable, Hashable {
    /// Pixels in all.
    public var pixels: Int
    /// Pixels across, and down: a picture of one row may be small and still be more than decoders can count.
    public var side: Int

    public init(pixels: Int = 100_000_000, side: Int = 1_000_000) {
        self.pixels = pixels
        self.side = side
    }

    func permit(_ size: ImageSize) -> Bool {
        size.width <= side && size.height <= side && size.width.times(size.height) <= pixels
    }
}
