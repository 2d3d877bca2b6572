import Foundation
import GannetPictures
import GannetTestKit

@testable import Results

/// A pool with the real program.
struct Making: Sendable {
    let pool: ThumbnailPool

    init(_ change: (inout ThumbnailBounds) -> Void = { _ in }) {
        var bounds = ThumbnailBounds()
        bounds.programs = 1
        // No test waits for less: machines may be slow.
        bounds.start = .seconds(60)
        change(&bounds)
        pool = ThumbnailPool(ThumbnailProgram(named: Program.built("gannet-thumbnail"), beside: ""), bounds)
    }

    func result(
        of picture: [UInt8], _ width: Int = 64, _ height: Int = 64, _ fit: ThumbnailFit = .contain, _ format: ThumbnailFormat = .plain
    ) async -> Result<Thumbnail, ThumbnailFailure> {
        await pool.result(ThumbnailRequest(width: width, height: height, fit: fit, format: format), of: picture)
    }

    /// The kind of the failure; nil for a thumbnail.
    func failure(of picture: [UInt8]) async -> ThumbnailFailure.Kind? {
        switch await result(of: picture) {
        case .success: nil
        case .failure(let failure): failure.kind
        }
    }

    /// A picture of the format, made of a PNG.
    func picture(_ format: ThumbnailFormat, _ width: Int = 320, _ height: Int = 200) async throws -> [UInt8] {
        try await result(of: MadePicture.png(width, height), width, height, .contain, format).get().bytes
    }
}

/// The files that the tests of ImageProbe have.
enum SampleFiles {
    static func all(of extensions: Set<String>) throws -> [(name: String, bytes: [UInt8])] {
        let folder = Repository.url("Tests/PictureTests/Probe/Samples")
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { extensions.contains($0.pathExtension) }.sorted { $0.path < $1.path }
            .map { ($0.lastPathComponent, Array(try Data(contentsOf: $0))) }
    }
}
