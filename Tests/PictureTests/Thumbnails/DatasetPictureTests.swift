import GannetBase
import GannetPictures
import GannetTestKit
import Testing

@testable import Results

/// Sizes that img2dataset 1.47 gave the same pictures. `Scripts/check pictures` asks it about many more.
private struct Expected: Sendable, CustomTestStringConvertible {
    let original: PictureSize
    let fit: ThumbnailFit
    let small: SmallPicture
    let made: PictureSize

    init(_ width: Int, _ height: Int, _ fit: ThumbnailFit, _ small: SmallPicture, _ madeWidth: Int, _ madeHeight: Int) {
        (original, self.fit, self.small) = (PictureSize(width, height), fit, small)
        made = PictureSize(madeWidth, madeHeight)
    }

    var testDescription: String { "\(original) \(fit) \(small)" }

    static let all = [
        Expected(400, 300, .keep, .enlarge, 400, 300), Expected(400, 300, .border, .enlarge, 256, 256),
        Expected(400, 300, .surround, .enlarge, 341, 256), Expected(400, 300, .contain, .enlarge, 256, 192),
        Expected(400, 300, .cover, .enlarge, 256, 256),
        Expected(100, 50, .border, .enlarge, 256, 256), Expected(100, 50, .surround, .enlarge, 512, 256),
        Expected(100, 50, .contain, .enlarge, 256, 128), Expected(100, 50, .cover, .enlarge, 256, 256),
        Expected(100, 50, .border, .stay, 100, 50), Expected(100, 50, .surround, .stay, 100, 50),
        Expected(100, 50, .contain, .stay, 100, 50), Expected(100, 50, .cover, .stay, 100, 50),
        // A picture that is just as large is not cut and has no border.
        Expected(300, 256, .cover, .stay, 300, 256), Expected(256, 100, .border, .stay, 256, 100),
        Expected(300, 256, .contain, .stay, 256, 218), Expected(300, 257, .cover, .stay, 256, 256),
        Expected(4000, 1, .contain, .enlarge, 256, 1), Expected(4000, 1, .border, .enlarge, 256, 256),
        Expected(4000, 1, .cover, .enlarge, 256, 256), Expected(1, 1, .surround, .enlarge, 256, 256),
        // 192.5 and 193.5: halves go to the even number.
        Expected(512, 385, .contain, .enlarge, 256, 192), Expected(512, 387, .contain, .enlarge, 256, 194),
    ]
}

@Suite(.timeLimit(.minutes(2)), .enabled(if: MachineNeed.canMakeThumbnails)) struct DatasetPictureTests {
    private let making = Making()

    private func request(
        _ side: Int = 256, _ fit: ThumbnailFit = .contain, _ small: SmallPicture = .enlarge, _ format: ThumbnailFormat = .jpeg
    ) -> ThumbnailRequest {
        ThumbnailRequest(side: side, fit: fit, small: small, format: format, quality: nil)
    }

    @Test func `a picture of a dataset gets the size that img2dataset gives it`() async throws {
        for one in Expected.all {
            let picture = MadePicture.png(one.original.width, one.original.height)
            let made = try await making.pool.result(request(256, one.fit, one.small), of: picture).get()
            #expect(made.size == one.made && made.original == one.original, "\(one.testDescription)")
        }
        making.pool.close()
    }

    @Test func `a picture of a dataset lies as its pixels are stored, and has no transparency in any format`() async throws {
        let turned = MadePicture.turned(try await making.picture(.jpeg, 200, 100), orientation: 6)
        #expect(try await making.pool.result(request(50), of: turned).get().size == PictureSize(50, 25))
        let transparent = MadePicture.png(40, 20, .rgba) { x, _ in [9, 9, 9, x < 20 ? 0 : 255] }
        for fit in ThumbnailFit.allCases {
            let png = try await making.pool.result(request(50, fit, .enlarge, .png), of: transparent).get()
            // The colours of a PNG: RGB.
            #expect(png.bytes[25] == 2, "\(fit)")
        }
        making.pool.close()
    }

    @Test func `colours that no profile explains stay as they are, in all modes`() async throws {
        for colour in [[40, 90, 200], [255, 255, 255], [10, 10, 10], [250, 240, 5], [200, 30, 60]] as [[UInt8]] {
            let picture = MadePicture.png(40, 20) { _, _ in colour }
            for fit in ThumbnailFit.allCases where fit != .border {
                let png = try await making.pool.result(request(16, fit, .enlarge, .png), of: picture).get()
                #expect(try Self.firstPixel(ofPNG: png.bytes) == colour, "\(fit)")
            }
        }
        making.pool.close()
    }

    /// In any filter of PNG the first pixel is itself.
    private static func firstPixel(ofPNG bytes: [UInt8]) throws -> [UInt8] {
        var (packed, at): ([UInt8], Int) = ([], 8)
        while at + 12 <= bytes.count {
            let count = bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
            if bytes[at + 4..<at + 8].elementsEqual("IDAT".utf8) { packed += bytes[at + 8..<at + 8 + count] }
            at += 12 + count
        }
        let inflate = try #require(Inflate(.zlib))
        return packed.withUnsafeBytes { input in
            var input = input
            var row = [UInt8](repeating: 0, count: 4)
            _ = row.withUnsafeMutableBytes { inflate.advance(&input, into: $0) }
            return Array(row.dropFirst())
        }
    }

    @Test func `the quality decides how many bytes a picture takes`() async throws {
        let picture = MadePicture.png(200, 200) { x, y in [UInt8(x * y % 251), UInt8(x ^ y), UInt8(y)] }
        for format in [ThumbnailFormat.jpeg, .webp] {
            var counts: [Int] = []
            for quality in [10, 50, 95] {
                let wanted = ThumbnailRequest(side: 200, fit: .keep, small: .stay, format: format, quality: quality)
                counts.append(try await making.pool.result(wanted, of: picture).get().bytes.count)
            }
            #expect(counts[0] < counts[1] && counts[1] < counts[2], "\(format): \(counts)")
        }
        making.pool.close()
    }

    @Test func `a picture that is too small or too long is refused, and one at the bound is made`() async throws {
        var wanted = request(32)
        wanted.leastSide = 20
        wanted.greatestAspect = 2500
        func failure(_ width: Int, _ height: Int) async -> ThumbnailFailure? {
            switch await making.pool.result(wanted, of: MadePicture.png(width, height)) {
            case .success: nil
            case .failure(let failure): failure
            }
        }
        #expect(await failure(50, 20) == nil)
        #expect(await failure(20, 50) == nil)
        #expect(await failure(30, 19)?.kind == .tooSmall)
        let long = await failure(51, 20)
        #expect(long?.kind == .tooLong && long?.sentence.contains("more than 2.5 times") == true, "\(long?.sentence ?? "made")")
        making.pool.close()
    }
}

/// The pool as a run uses it.
@Suite(.timeLimit(.minutes(2)), .enabled(if: MachineNeed.canMakeThumbnails)) struct PictureMakerTests {
    private static let request = ThumbnailRequest(side: 20, fit: .border, small: .enlarge, format: .jpeg, quality: 95)

    private func maker(_ program: String, programs: Int = 2) -> PictureMaker {
        PictureMaker(ThumbnailProgram(named: program, beside: ""), Self.request, programs: programs)
    }

    @Test func `many pictures wait for a few programs, and each is read when its turn has come`() async throws {
        let maker = maker(Program.built("gannet-thumbnail"))
        try await maker.check()
        let (picture, broken) = (MadePicture.png(30, 10), Array(MadePicture.png(30, 10).prefix(60)))
        let open = Open()
        let made = await withTaskGroup(of: Bool.self) { group in
            // More than the pool of a gateway lets wait.
            for number in 0..<200 {
                group.addTask {
                    let bytes = number % 10 == 9 ? broken : picture
                    let result = await maker.pool.result(maker.request, count: bytes.count) {
                        open.begin()
                        return bytes
                    }
                    open.end()
                    return if case .success(let made) = result { made.size == PictureSize(20, 20) } else { false }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(made == 180)
        // One more may have ended, and not be counted yet, at each program.
        #expect(open.most <= 4, "\(open.most) pictures were in memory")
        maker.close()
    }

    @Test func `a program that is missing or of another kind is an error before any picture`() async throws {
        let missing = await #expect(throws: ThumbnailFailure.self) { try await maker("/nowhere/gannet-thumbnail").check() }
        #expect(missing?.kind == .missing)
        let other = await #expect(throws: ThumbnailFailure.self) { try await maker("/bin/true").check() }
        #expect(other?.kind == .unfit)
    }

    /// Counts pictures that are in memory.
    private final class Open: Sendable {
        private let counts = Mutex((now: 0, most: 0))

        var most: Int { counts.withLock { $0.most } }

        func begin() {
            counts.withLock {
                $0.now += 1
                $0.most = max($0.most, $0.now)
            }
        }

        func end() { counts.withLock { $0.now -= 1 } }
    }
}
