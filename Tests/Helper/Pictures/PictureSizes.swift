import Foundation
import GannetPictures
import Results

/// The sizes of pictures that gannet-thumbnail makes, for a comparison with img2dataset (Scripts/check pictures).
///
///     helper pictures PROGRAM     PROGRAM is gannet-thumbnail
///
/// Each line of standard input is `FILE FIT SIDE SMALL FORMAT LEAST ASPECT`; printed: the sides of the picture that is made, those of its
/// original, and the file's format, or the kind of the failure.
enum PictureSizes: HelperJob {
    private static let fits: [String: ThumbnailFit] = [
        "no": .keep, "border": .border, "keep_ratio": .surround, "keep_ratio_largest": .contain, "center_crop": .cover,
    ]
    private static let formats: [String: ThumbnailFormat] = ["jpg": .jpeg, "png": .png, "webp": .webp]

    static func run(_ words: [String]) async {
        let pool = ThumbnailPool(ThumbnailProgram(named: words.dropFirst().first, beside: CommandLine.arguments[0]))
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 7, let fit = fits[words[1]], let side = Int(words[2]), let format = formats[words[4]],
                let least = Int(words[5]),
                let aspect = Int(words[6]), let bytes = FileManager.default.contents(atPath: words[0])
            else {
                print("unknown line: \(line)")
                exit(64)
            }
            var request = ThumbnailRequest(
                side: side, fit: fit, small: words[3] == "stay" ? .stay : .enlarge, format: format, quality: format == .png ? nil : 90)
            request.leastSide = least
            request.greatestAspect = aspect
            switch await pool.result(request, of: Array(bytes)) {
            case .success(let made):
                print(made.size.width, made.size.height, made.original.width, made.original.height, made.format)
            case .failure(let failure): print(failure.kind.rawValue, failure.sentence)
            }
        }
        pool.close()
    }
}
