import GannetBase
import GannetPictures
import Results

/// The thumbnail that a command is to make, and the program that makes it.
enum ThumbnailOptions {
    static let program = Flag(
        "thumbnail-program", .file(),
        "The program that makes thumbnails, gannet-thumbnail. Without this option it is the one beside gannet.")

    /// The pictures of a run are made by the same program.
    static let programOfRun = Flag(
        "thumbnail-program", .file(), section: .pictures,
        "The program that makes pictures, gannet-thumbnail. Without this option it is the one beside gannet.")

    static let programs = Flag(
        "thumbnail-programs", .integer(in: 1...64), default: "\(ThumbnailBounds().programs)",
        "How many pictures are worked on at a time, each by a program of its own with one thread.")

    private static let width = Flag(
        "width", .integer(in: ThumbnailRequest.sides), default: "320", "The most pixels across. No picture is enlarged.")
    private static let height = Flag(
        "height", .integer(in: ThumbnailRequest.sides),
        "The most pixels down. Without this option as many as follow from the width, and as many as the width with '--fit cover'.")
    private static let fit = Flag(
        "fit", .choice("fit", of: [("contain", ThumbnailFit.contain), ("cover", .cover)]), default: "contain",
        "'contain' shows all of the picture. 'cover' fills the size and cuts two sides.")
    private static let format = Flag(
        "format", .choice("format", of: ["auto", "jpeg", "png", "webp", "avif"]), default: "auto",
        "The format; 'auto' goes by the name of the output file. For other names it is JPEG, and PNG for a transparent picture.")

    static let flags = [width.entry, height.entry, fit.entry, format.entry]

    static func program(_ arguments: Arguments) throws -> ThumbnailProgram {
        ThumbnailProgram(named: try arguments.optional(program), beside: Executable.path)
    }

    static func request(_ arguments: Arguments, output: String) throws -> ThumbnailRequest {
        let asked = try arguments.require(Self.format)
        let name = asked == "auto" ? output.split(separator: ".").last?.lowercased() ?? "" : asked
        let format: ThumbnailFormat =
            switch name {
            case "jpeg", "jpg": .jpeg
            case "png": .png
            case "webp": .webp
            case "avif": .avif
            default: .plain
            }
        return ThumbnailRequest(
            width: try arguments.require(width), height: try arguments.optional(height), fit: try arguments.require(fit), format: format)
    }
}

extension CommandFailure {
    init(_ failure: ThumbnailFailure) {
        switch failure.kind {
        case .missing, .unfit, .busy, .cancelled: self.init(.unavailable, failure.sentence)
        case .notPicture, .tooLarge, .tooSmall, .tooLong, .broken, .crashed, .tooSlow: self.init(.noUsableInput, failure.sentence)
        }
    }
}
