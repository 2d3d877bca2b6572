internal import GannetBase
package import GannetHTTP
package import GannetPictures

/// Makes the pictures of a run: all by the same request, a few at a time, and each in a program that can do nothing else.
///
/// A picture waits for its turn as long as it takes, and is read when its turn has come. So memory holds as many pictures as there are programs.
/// The death of a program costs the picture that it worked on, which is not tried again.
package final class PictureMaker: Sendable {
    package let request: ThumbnailRequest
    let pool: ThumbnailPool

    /// - Parameter programs: How many pictures are worked on at a time.
    package init(_ program: ThumbnailProgram, _ request: ThumbnailRequest, programs: Int = PictureMaker.cores) {
        self.request = request
        var bounds = ThumbnailBounds()
        bounds.programs = programs
        // The run bounds how many bodies wait to be stored.
        (bounds.waiting, bounds.waitingPictures) = (.max, .max)
        pool = ThumbnailPool(program, bounds)
    }

    package static var cores: Int { max(1, min(64, sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

    /// Throws where no picture can be made: the program is missing, or cannot work on this machine. It tries with a picture of its own.
    package func check() async throws(ThumbnailFailure) {
        var wanted = request
        (wanted.leastSide, wanted.greatestAspect) = (0, 0)
        _ = try await pool.result(wanted, of: Self.sample).get()
    }

    /// A GIF of one pixel.
    private static let sample: [UInt8] =
        Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 255, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3b]

    /// The picture of a body. Every output that stores pictures in the place of bodies takes this step.
    package func picture(of download: Download) async -> Result<Thumbnail, ThumbnailFailure> {
        let (body, count) = (download.body, Int(download.byteCount))
        return await pool.result(request, count: count) { () throws(ThumbnailFailure) -> [UInt8] in
            switch body {
            case .bytes(let bytes): return bytes
            case .file(let path, _):
                if let bytes = Descriptor.contents(ofFile: path, count: count) { return bytes }
                let reason = Descriptor.message(errno)
                throw ThumbnailFailure(.busy, "The file \(path.escapedForDisplay) of a body cannot be read: \(reason).")
            }
        }
    }

    /// Ends all programs.
    package func close() { pool.close() }
}
