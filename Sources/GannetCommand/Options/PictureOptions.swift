import GannetPictures

/// The pictures that a run makes of what it fetches.
struct PictureOptions: Sendable {
    let request: ThumbnailRequest
    /// The options as they may be typed, in one form for each meaning. A folder of pictures remembers them.
    let text: String

    /// By the names that img2dataset has given them.
    private static let modes: [(name: String, fit: ThumbnailFit)] = [
        ("no", .keep), ("border", .border), ("keep-ratio", .surround), ("keep-ratio-largest", .contain), ("center-crop", .cover),
    ]
    private static let formats: [(name: String, format: ThumbnailFormat)] = [("jpg", .jpeg), ("png", .png), ("webp", .webp)]
    private static let usualQuality = 95

    private static let side = Flag(
        "resize", .integer("pixels", in: ThumbnailRequest.sides), section: .pictures,
        "Make a picture of each body, and store that in its place: this many pixels wide and high, as '--resize-mode' has it. A body that is no "
            + "picture fails its row.")
    private static let mode = Flag(
        "resize-mode", .choice("mode", of: modes.map(\.name)), section: .pictures,
        "How a picture meets the size. Without this option it is 'border' with '--resize', and 'no' else. Mode 'border' adds white to the shorter "
            + "side. Mode 'keep-ratio' makes the shorter side as long as wanted, and 'keep-ratio-largest' the longer one. Mode 'center-crop' cuts the "
            + "longer side. Mode 'no' keeps the size.")
    private static let onlyIfBigger = Toggle(
        "resize-only-if-bigger", section: .pictures,
        "Leave a picture that is not larger than the size as it is: it is not enlarged, and has no border.")
    private static let format = Flag(
        "picture-format", .choice("format", of: formats.map(\.name)), section: .pictures,
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
        let mode = try arguments.optional(Self.mode)
        let format = try arguments.optional(Self.format)
        let quality = try arguments.optional(Self.quality)
        let least = try arguments.optional(Self.leastSide)
        let aspect = try arguments.optional(Self.greatestAspect)
        let onlyIfBigger = arguments.isSet(Self.onlyIfBigger)
        let isAsked = side != nil || mode != nil || format != nil || quality != nil || least != nil || aspect != nil || onlyIfBigger
        guard isAsked else { return nil }
        let modeName = mode ?? (side == nil ? "no" : "border")
        guard side != nil || modeName == "no" else {
            throw arguments.usageError("'--resize-mode \(modeName)' needs a size: add '--resize <pixels>'.")
        }
        if onlyIfBigger, modeName == "no" { throw arguments.usageError("'--resize-only-if-bigger' needs a size: add '--resize <pixels>'.") }
        let formatName = format ?? "jpg"
        if quality != nil, formatName == "png" {
            throw arguments.usageError("'--picture-quality' is for jpg and webp: png keeps every pixel.")
        }
        let fit = Self.modes.first { $0.name == modeName }?.fit ?? .keep
        let usedQuality = formatName == "png" ? nil : quality ?? Self.usualQuality
        // A mode that keeps sizes has none.
        let usedSide = fit == .keep ? nil : side
        var request = ThumbnailRequest(
            side: usedSide ?? 1, fit: fit, small: onlyIfBigger ? .stay : .enlarge,
            format: Self.formats.first { $0.name == formatName }?.format ?? .jpeg, quality: usedQuality)
        (request.leastSide, request.greatestAspect) = (least ?? 0, aspect?.thousandths ?? 0)
        self.request = request
        var words = (usedSide.map { ["--resize \($0)"] } ?? []) + ["--resize-mode \(modeName)"]
        if onlyIfBigger { words.append("--resize-only-if-bigger") }
        words.append("--picture-format \(formatName)")
        if let usedQuality { words.append("--picture-quality \(usedQuality)") }
        if let least { words.append("--min-size \(least)") }
        if let aspect { words.append("--max-aspect \(aspect.text)") }
        text = words.joined(separator: " ")
    }
}

/// How many times as long as the other a side of a picture may be.
struct AspectLimit: Sendable, Equatable {
    let thousandths: Int

    var text: String { ThumbnailRequest.aspect(thousandths) }
}

extension ValueType where Value == AspectLimit {
    /// A number from 1, with up to three decimal places.
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
            return AspectLimit(thousandths: thousandths)
        }
    }
}
