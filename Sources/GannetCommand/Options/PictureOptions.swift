import GannetPictures

/// The pictures that a run makes of what it fetches.
struct PictureOptions: Sendable {
    let request: ThumbnailRequest
    /// The options as they may be typed, in one form for each meaning. A folder of pictures remembers them.
    let text: String

    /// By the names that img2dataset has given them.
    private static let modes: [(name: String, value: ThumbnailFit)] = [
        ("no", .keep), ("border", .border), ("keep-ratio", .surround), ("keep-ratio-largest", .contain), ("center-crop", .cover),
    ]
    private static let formats: [(name: String, value: ThumbnailFormat)] = [("jpg", .jpeg), ("png", .png), ("webp", .webp)]
    private static let usualQuality = 95

    private static let side = Flag(
        "resize", .integer("pixels", in: ThumbnailRequest.sides), section: .pictures,
        "Make a picture of each body, and store that in its place: this many pixels wide and high, as '--resize-mode' has it. A body that is no "
            + "picture fails its row.")
    private static let mode = Flag(
        "resize-mode", .choice("mode", of: modes), section: .pictures,
        "How a picture meets the size. Without this option it is 'border' with '--resize', and 'no' else. Mode 'border' adds white to the shorter "
            + "side. Mode 'keep-ratio' makes the shorter side as long as wanted, and 'keep-ratio-largest' the longer one. Mode 'center-crop' cuts the "
            + "longer side. Mode 'no' keeps the size.")
    private static let onlyIfBigger = Toggle(
        "resize-only-if-bigger", section: .pictures,
        "Leave a picture that is not larger than the size as it is: it is not enlarged, and has no border.")
    private static let format = Flag(
        "picture-format", .choice("format", of: formats), section: .pictures,
        "The format of the pictures that are stored; without this option jpg. Transparent parts become white.")
    private static let quality = Flag(
        "picture-quality", .integer("number", in: ThumbnailRequest.qualities), section: .pictures,
        "The quality of pictures in jpg and webp; without this option \(usualQuality).")
    private static let leastSide = Flag(
        "min-size", .integer("pixels", in: 1...ThumbnailRequest.leastSides.upperBound), section: .pictures,
        "Store no picture with a side of fewer pixels; its row fails as picture-too-small.")
    private static let greatestAspect = Flag(
        "max-aspect", .aspect, section: .pictures,
        "Store no picture with a side that is more than this many times as long as the other; its row fails as picture-too-long.")

    static let flags = [
        side.entry, mode.entry, onlyIfBigger.entry, format.entry, quality.entry, leastSide.entry, greatestAspect.entry,
    ]

    /// Nil where bodies are stored as they are.
    init?(_ arguments: Arguments) throws {
        let side = try arguments.optional(Self.side)
        let fit = try arguments.optional(Self.mode) ?? (side == nil ? .keep : .border)
        let format = try arguments.optional(Self.format) ?? .jpeg
        let quality = try arguments.optional(Self.quality)
        let least = try arguments.optional(Self.leastSide)
        let aspect = try arguments.optional(Self.greatestAspect)
        let onlyIfBigger = arguments.isSet(Self.onlyIfBigger)
        guard onlyIfBigger || Self.flags.contains(where: { $0.value != nil && arguments.origin(of: $0) != nil }) else { return nil }
        let modeName = Self.modes.first { $0.value == fit }?.name ?? ""
        guard side != nil || fit == .keep else {
            throw arguments.usageError("'--resize-mode \(modeName)' needs a size: add '--resize <pixels>'.")
        }
        if onlyIfBigger, fit == .keep { throw arguments.usageError("'--resize-only-if-bigger' needs a size: add '--resize <pixels>'.") }
        if quality != nil, format == .png {
            throw arguments.usageError("'--picture-quality' is for jpg and webp: png keeps every pixel.")
        }
        let usedQuality = format == .png ? nil : quality ?? Self.usualQuality
        // A mode that keeps sizes has none.
        let usedSide = fit == .keep ? nil : side
        var request = ThumbnailRequest(
            side: usedSide ?? 1, fit: fit, small: onlyIfBigger ? .stay : .enlarge, format: format, quality: usedQuality)
        (request.leastSide, request.greatestAspect) = (least ?? 0, aspect ?? 0)
        self.request = request
        var words = (usedSide.map { ["--resize \($0)"] } ?? []) + ["--resize-mode \(modeName)"]
        if onlyIfBigger { words.append("--resize-only-if-bigger") }
        words += Self.formats.filter { $0.value == format }.map { "--picture-format \($0.name)" }
        if let usedQuality { words.append("--picture-quality \(usedQuality)") }
        if let least { words.append("--min-size \(least)") }
        if let aspect { words.append("--max-aspect \(ThumbnailRequest.aspect(aspect))") }
        text = words.joined(separator: " ")
    }
}

extension ValueType where Value == Int {
    /// How many times as long as the other a side of a picture may be, in thousandths: a number from 1, with up to three decimal places.
    static var aspect: Self {
        Self("number") { text in
            let problem = UsageError("use a number from 1 to 65535, such as 3 or 2.5, with up to three decimal places.")
            let parts = text.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count <= 2, parts.allSatisfy({ 1...5 ~= $0.utf8.count && $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } }),
                let whole = Int(parts[0])
            else { throw problem }
            let decimals = parts.count == 2 ? parts[1] : "0"
            guard decimals.utf8.count <= 3, let rest = Int(decimals + String(repeating: "0", count: 3 - decimals.utf8.count)) else {
                throw problem
            }
            let thousandths = whole * 1000 + rest
            guard 1000...65_535_000 ~= thousandths else { throw problem }
            return thousandths
        }
    }
}
