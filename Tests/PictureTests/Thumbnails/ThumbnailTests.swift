import GannetPictures
import GannetTestKit
import Testing

@testable import Results

/// Good pictures, through the real program.
@Suite(.timeLimit(.minutes(2)), .enabled(if: MachineNeed.canMakeThumbnails)) struct ThumbnailTests {
    private let making = Making()

    @Test(arguments: [ThumbnailFormat.jpeg, .png, .webp, .avif])
    func `a picture of each format becomes one of each format, with the announced size`(source: ThumbnailFormat) async throws {
        let picture = try await making.picture(source)
        for format in [ThumbnailFormat.jpeg, .png, .webp, .avif] {
            let made = try await making.result(of: picture, 64, 64, .contain, format).get()
            let info = try ImageProbe().examine(made.bytes)
            #expect(made.format == format && info.size == ImageSize(width: 64, height: 40), "\(source) to \(format)")
            #expect(made.size == PictureSize(64, 40) && made.original == PictureSize(320, 200))
        }
        making.pool.close()
    }

    @Test(arguments: [
        (ThumbnailFit.contain, 100, 100, 100, 50), (.contain, 1000, 20, 40, 20), (.contain, 4096, 4096, 200, 100),
        (.cover, 50, 50, 50, 50), (.cover, 150, 10, 150, 10), (.cover, 400, 50, 200, 50),
    ])
    func `a picture of 200 by 100 is brought into the size, and never enlarged`(
        fit: ThumbnailFit, width: Int, height: Int, madeWidth: Int, madeHeight: Int
    ) async throws {
        let made = try await making.result(of: MadePicture.png(200, 100), width, height, fit).get()
        #expect(made.size == PictureSize(madeWidth, madeHeight))
        making.pool.close()
    }

    @Test(arguments: [(UInt8(1), 64, 32), (3, 64, 32), (6, 32, 64), (8, 32, 64)])
    func `a picture stands upright, and nothing of what its camera has written is left`(
        orientation: UInt8, width: Int, height: Int
    ) async throws {
        let jpeg = MadePicture.turned(try await making.picture(.jpeg, 200, 100), orientation: orientation)
        for format in [ThumbnailFormat.jpeg, .png, .webp, .avif] {
            let made = try await making.result(of: jpeg, 64, 64, .contain, format).get()
            #expect(made.size == PictureSize(width, height) && made.original == PictureSize(width * 100 / 32, height * 100 / 32))
            #expect(made.bytes.firstRange(of: Array(MadePicture.camera.utf8)) == nil, "\(format)")
        }
        making.pool.close()
    }

    @Test func `a transparent picture stays transparent where the format can be chosen, and is white where it cannot`() async throws {
        let transparent = MadePicture.png(40, 40, .rgba) { x, _ in [0, 0, 0, x < 20 ? 0 : 255] }
        #expect(try await making.result(of: transparent).get().format == .png)
        #expect(try await making.result(of: transparent, 40, 40, .contain, .jpeg).get().format == .jpeg)
        // An alpha channel that no pixel uses is no transparency.
        let opaque = MadePicture.png(40, 40, .rgba) { x, y in [UInt8(x), UInt8(y), 9, 255] }
        #expect(try await making.result(of: opaque).get().format == .jpeg)
        making.pool.close()
    }

    @Test func `an animation becomes its first frame`() async throws {
        let made = try await making.result(of: MadePicture.gif(30, 20, frames: 5), 15, 15).get()
        #expect(made.size == PictureSize(15, 10))
        making.pool.close()
    }

    @Test func `every good sample of the formats that are read has a thumbnail`() async throws {
        var made = 0
        for (name, bytes) in try SampleFiles.all(of: ["jpg", "png", "webp", "gif", "avif"]) {
            let result = await making.result(of: bytes)
            switch result {
            case .success(let thumbnail):
                made += 1
                #expect(max(thumbnail.size.width, thumbnail.size.height) <= 64, "\(name)")
            case .failure(let failure): print("\(name): \(failure)")
            }
        }
        #expect(made >= 40)
        making.pool.close()
    }
}
