internal import GannetBase
package import GannetPictures

/// Makes the pictures of a run: all by the same request, a few at a time, and each in a program that can do nothing else.
///
/// A picture waits for its turn as long as it takes, and is read when its turn has come. So memory holds as many pictures as there are programs.
/// The death of a program costs the picture that it worked on, which is not tried again.
package final class PictureMaker: Sendable {
    package let request: ThumbnailRequest
    private let pool: ThumbnailPool

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

    /// Pictures that programs have worked on.
    package var made: Int { pool.made }

    /// Throws where no picture can be made: the program is missing, or cannot work on this machine. It tries with a picture of its own.
    package func check() async throws(ThumbnailFailure) {
        var wanted = request
        (wanted.leastSide, wanted.greatestAspect) = (0, 0)
        _ = try await pool.result(wanted, of: Self.sample).get()
    }

    /// A GIF of one pixel.
    private static let sample: [UInt8] =
        Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 255, 0, 0, 0, 0, 255, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3b]

    /// - Parameters:
    ///   - count: The bytes of the original.
    ///   - read: The original, when its turn has come; called on a thread that may wait.
    package func picture(
        ofBytes count: Int, read: @escaping @Sendable () throws(ThumbnailFailure) -> [UInt8]
    ) async -> Result<Thumbnail, ThumbnailFailure> {
        await pool.result(request, count: count, read: read)
    }

    /// Ends all programs.
    package func close() { pool.close() }
}

extension ThumbnailFailure.Kind {
    /// Whether the failure is one of the picture, and other pictures can be made.
    package var isOfPicture: Bool {
        switch self {
        case .notPicture, .tooLarge, .tooSmall, .tooLong, .broken, .crashed, .tooSlow: true
        case .missing, .unfit, .busy, .cancelled: false
        }
    }

    /// Whether the same bytes always fail so. A page in a picture's place may be gone tomorrow, and so may the load of a machine.
    package var isFinal: Bool {
        switch self {
        case .tooLarge, .tooSmall, .tooLong: true
        case .notPicture, .broken, .crashed, .tooSlow, .missing, .unfit, .busy, .cancelled: false
        }
    }
}
