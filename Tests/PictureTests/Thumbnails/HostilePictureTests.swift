import Foundation
import GannetPictures
import GannetTestKit
import Testing

@testable import Results

/// Pictures that are meant to do harm. Each ends as an error or as a picture within its bounds, and the next picture is made.
@Suite(.timeLimit(.minutes(5)), .enabled(if: MachineNeed.canMakeThumbnails)) struct HostilePictureTests {
    private let making = Making()

    @Test(arguments: [ThumbnailFormat.jpeg, .png, .webp, .avif])
    func `a truncated picture is a broken one`(format: ThumbnailFormat) async throws {
        let picture = try await making.picture(format)
        #expect(await making.failure(of: picture) == nil)
        for share in [0.3, 0.6, 0.9] {
            let part = Array(picture.prefix(Int(Double(picture.count) * share)))
            #expect(await making.failure(of: part) == .broken, "\(format), \(share)")
        }
        making.pool.close()
    }

    @Test func `a head that announces 60,000 by 60,000 pixels is refused before a pixel is decoded`() async throws {
        let enormous = MadePicture.png(60_000, 60_000, .rgb, zlib: Deflated.zlib([UInt8](repeating: 0, count: 1000)))
        #expect(await making.failure(of: enormous) == .tooLarge)
        let wide = MadePicture.png(70_000, 1, .grey, zlib: Deflated.zlib([UInt8](repeating: 0, count: 70_001)))
        #expect(await making.failure(of: wide) == .tooLarge)
        #expect(making.pool.made == 2)
        #expect(await making.failure(of: MadePicture.png(9, 9)) == nil)
        making.pool.close()
    }

    @Test func `a bomb within the bounds of pixels is decoded within the bounds of memory`() async throws {
        // 60 MB of pixels in some 60 KB of bytes.
        let bomb = MadePicture.png(8000, 7500, .grey, zlib: Deflated.zlib([UInt8](repeating: 0, count: 7500 * 8001)))
        #expect(bomb.count < 100_000)
        #expect(await making.failure(of: bomb) == nil)
        // Interlaced pictures cannot be decoded row by row. The rows here are wrong too.
        let interlaced = MadePicture.png(
            8000, 7500, .grey, zlib: Deflated.zlib([UInt8](repeating: 0, count: 7500 * 8001)), isInterlaced: true)
        _ = await making.failure(of: interlaced)
        #expect(await making.failure(of: MadePicture.png(9, 9)) == nil)
        making.pool.close()
    }

    @Test func `a strip of a picture whose shorter side is enlarged is refused, and its middle is cut out of it`() async throws {
        let strip = MadePicture.png(20_000, 1, .grey, zlib: Deflated.zlib([UInt8](repeating: 0, count: 20_001)))
        func made(_ fit: ThumbnailFit) async -> Result<Thumbnail, ThumbnailFailure> {
            await making.pool.result(ThumbnailRequest(side: 400, fit: fit, small: .enlarge, format: .jpeg, quality: nil), of: strip)
        }
        // Eight million by 400 pixels.
        let failure = await #expect(throws: ThumbnailFailure.self) { try await made(.surround).get() }
        #expect(failure?.kind == .tooLarge)
        #expect(try await made(.cover).get().size == PictureSize(400, 400))
        #expect(try await made(.contain).get().size == PictureSize(400, 1))
        making.pool.close()
    }

    @Test(arguments: [10_000, 10_001, 16_000, 40_000])
    func `a very wide picture with transparency is made`(width: Int) async throws {
        let wide = MadePicture.png(width, 16, .rgba) { x, y in
            [UInt8(truncatingIfNeeded: x), UInt8(y), 7, UInt8(truncatingIfNeeded: x + y)]
        }
        let request = ThumbnailRequest(side: 1, fit: .keep, small: .stay, format: .jpeg, quality: nil)
        #expect(try await making.pool.result(request, of: wide).get().size == PictureSize(width, 16))
        making.pool.close()
    }

    @Test(arguments: [
        "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><image href='file:///etc/passwd'/></svg>", "%PDF-1.4\n1 0 obj\n",
        "<html>", "", "II*\0\u{8}\0\0\0\0\0", "P6 1 1 255 aaa", "#?RADIANCE\n", "id=ImageMagick", "hello",
    ])
    func `bytes of another format are refused`(text: String) async throws {
        #expect(await making.failure(of: Array(text.utf8)) == .notPicture)
        making.pool.close()
    }

    @Test func `samples of other formats are refused`() async throws {
        let samples = try SampleFiles.all(of: ["tiff", "svg", "bmp", "ico", "cur"])
        #expect(samples.count > 10)
        for (name, bytes) in samples { #expect(await making.failure(of: bytes) == .notPicture, "\(name)") }
        making.pool.close()
    }

    @Test func `made-up damage never does more than cost one picture`() async throws {
        var random = SeededBytes(seed: 18)
        let samples = try SampleFiles.all(of: ["jpg", "png", "webp", "gif", "avif"]).filter { $0.bytes.count < 100_000 }
        var (errors, pictures, crashes) = (0, 0, 0)
        for _ in 0..<300 {
            var (name, bytes) = samples[Int(random.next() % UInt64(samples.count))]
            for _ in 0..<(1 + random.next() % 20) {
                bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            switch await making.result(of: bytes) {
            case .success(let thumbnail):
                pictures += 1
                #expect(max(thumbnail.size.width, thumbnail.size.height) <= 64)
                #expect((try? ImageProbe().examine(thumbnail.bytes)) != nil, "\(name)")
            case .failure(let failure):
                errors += 1
                if failure.kind == .crashed { crashes += 1 }
                #expect([.notPicture, .broken, .tooLarge, .crashed].contains(failure.kind), "\(name): \(failure)")
            }
        }
        // Both happen, or the damage was none, or the program makes nothing.
        #expect(errors > 10 && pictures > 10, "\(errors) errors, \(pictures) pictures")
        // libvips has faults. More than a few deaths mean that the sandbox refuses what good pictures need.
        #expect(crashes < 5)
        #expect(await making.failure(of: MadePicture.png(9, 9)) == nil)
        making.pool.close()
    }
}
