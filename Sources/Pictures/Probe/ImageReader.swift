/// Reads the numbers of one image in its byte order. Reading beyond the end means that the image is truncated.
///
/// Each format has a function here that reads an image to its end, and says its size.
struct ImageReader {
    let source: ByteSource
    let format: ImageFormat
    let limits: ImageLimits
    var order = ByteOrder.big
    /// The part that an error calls missing if the bytes end at the next read.
    var part = "the rest of its header"

    init(_ source: ByteSource, as format: ImageFormat, limits: ImageLimits) {
        self.source = source
        self.format = format
        self.limits = limits
    }

    func u8(at offset: Int) throws -> Int { try number(at: offset, size: 1) }
    func u16(at offset: Int) throws -> Int { try number(at: offset, size: 2) }
    func u24(at offset: Int) throws -> Int { try number(at: offset, size: 3) }
    func u32(at offset: Int) throws -> Int { try number(at: offset, size: 4) }

    /// A number that says where something is or how long: one too large for `Int` is `max`, beyond the end of everything.
    func u64(at offset: Int) throws -> Int {
        try require(8, at: offset)
        let (first, second) = (try u32(at: offset), try u32(at: offset + 4))
        let (high, low) = order == .big ? (first, second) : (second, first)
        return high > Int(Int32.max) ? .max : high << 32 | low
    }

    /// Names are read in the order of their characters, whatever the order of the numbers.
    func name(at offset: Int) throws -> FourCC {
        guard let value = source.number(at: offset, size: 4, .big) else { throw truncated() }
        return FourCC(value)
    }

    func require(_ length: Int, at offset: Int) throws {
        guard source.holds(length, at: offset) else { throw truncated() }
    }

    /// The size, if it is one and within the limits.
    func size(_ width: Int, _ height: Int) throws -> ImageSize {
        guard width > 0, height > 0 else { throw malformed("its width or height is zero") }
        let size = ImageSize(width: width, height: height)
        guard limits.permit(size) else { throw ImageProbeError.tooManyPixels(format, size, limits: limits) }
        return size
    }

    func malformed(_ what: String) -> ImageProbeError { .malformed(format, what) }
    func truncated() -> ImageProbeError { .truncated(format, missing: part) }

    private func number(at offset: Int, size: Int) throws -> Int {
        guard let value = source.number(at: offset, size: size, order) else { throw truncated() }
        return value
    }
}

/// Four characters that name a chunk or a box.
struct FourCC: Hashable, ExpressibleByStringLiteral {
    let value: Int

    init(_ value: Int) {
        self.value = value
    }

    init(stringLiteral text: StaticString) {
        precondition(text.utf8CodeUnitCount == 4, "a name of four characters")
        value = text.withUTF8Buffer { $0.reduce(0) { $0 << 8 | Int($1) } }
    }
}

/// Sums and products of numbers from a file, none of them negative. An overflow becomes `max`: an offset that every check against the end refuses.
extension Int {
    func plus(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }

    func times(_ other: Int) -> Int {
        let (product, overflow) = multipliedReportingOverflow(by: other)
        return overflow ? .max : product
    }
}
