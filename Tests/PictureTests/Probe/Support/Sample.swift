import GannetTestKit
import Testing

@testable import GannetPictures

/// One of the files in Samples, which real encoders made.
struct Sample: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    /// According to other readers, which Samples/README.md names.
    let size: ImageSize?
    let format: ImageFormat

    static let folder = "\(#filePath)".split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" } + "/Samples"

    static let all: [Sample] = {
        do {
            let table = String(decoding: try contents(ofFile: "\(folder)/sizes.tsv"), as: UTF8.self)
            return try table.split(separator: "\n").map { try Sample(line: $0) }
        } catch {
            fatalError("The samples cannot be read: \(error)")
        }
    }()

    /// The sample of that name.
    static func named(_ name: String) throws -> Sample {
        guard let sample = all.first(where: { $0.name == name }) else { throw KitError("there is no sample \(name)") }
        return sample
    }

    private init(line: Substring) throws(KitError) {
        let fields = line.split(separator: "\t").map(String.init)
        guard fields.count == 3, let ending = fields[0].split(separator: ".").last else { throw KitError("no line of a table: \(line)") }
        name = fields[0]
        size = Int(fields[1]).flatMap { width in Int(fields[2]).map { ImageSize(width: width, height: $0) } }
        switch ending {
        case "jpg": format = .jpeg
        case "cur": format = .ico
        default:
            guard let known = ImageFormat(rawValue: String(ending)) else { throw KitError("no format: \(line)") }
            format = known
        }
        bytes = try contents(ofFile: "\(Self.folder)/\(name)")
    }

    /// Where the image ends; what is behind is not part of it.
    var end: Int {
        switch name {
        // Another picture follows the end-of-image marker.
        case "multi-picture.jpg": (bytes.firstRange(of: [0xff, 0xd9, 0xff, 0xd8])?.lowerBound ?? 0) + 2
        // Pillow fills the last of several pages up.
        case "pages.tiff": bytes.count - 8
        case _ where format == .svg: (bytes.lastIndex(of: UInt8(ascii: ">")) ?? 0) + (name == "utf16-little.svg" ? 2 : 1)
        default: bytes.count
        }
    }

    var testDescription: String { name }
}
