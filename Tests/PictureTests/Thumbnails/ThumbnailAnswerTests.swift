import Foundation
import GannetPictures
import GannetTestKit
import Testing

@testable import Results

/// Answers of a program that a picture has taken over: a script of the test takes its place.
@Suite(.timeLimit(.minutes(3))) struct ThumbnailAnswerTests {
    private static let request = ThumbnailRequest(width: 20, height: 20, fit: .contain, format: .png)

    /// The result when the program answers these bytes.
    private func result(of answer: [UInt8]) async throws -> Result<Thumbnail, ThumbnailFailure> {
        let folder = try TemporaryFolder()
        try folder.write(ThumbnailAnswer.ready.head(count: 0), to: "ready")
        try folder.write(answer, to: "answer")
        let script = """
            /bin/cat \(folder.file("ready"))
            /usr/bin/head -c \(ThumbnailRequest.headBytes) >/dev/null
            /bin/cat \(folder.file("answer"))
            exec /bin/cat >/dev/null
            """
        let program = try await folder.writeProgram(script)
        let pool = ThumbnailPool(ThumbnailProgram(named: program, beside: ""))
        let result = await pool.result(Self.request, of: [1, 2, 3])
        if case .failure(let failure) = result, failure.kind == .crashed { #expect(pool.processes.isEmpty, "the program goes on") }
        pool.close()
        return result
    }

    private func answer(
        _ bytes: [UInt8], _ width: Int = 10, _ height: Int = 10, _ format: ThumbnailFormat = .png, of original: PictureSize? = nil
    ) -> [UInt8] {
        let size = PictureSize(width, height)
        return ThumbnailAnswer.thumbnail(format: format, size: size, original: original ?? size).head(count: bytes.count) + bytes
    }

    @Test func `a picture of the wanted format and size is taken`() async throws {
        let picture = MadePicture.png(10, 10)
        #expect(try await result(of: answer(picture)).get().bytes == picture)
    }

    @Test func `anything else is an error, and the program is ended`() async throws {
        let picture = MadePicture.png(10, 10)
        let page = Array("<html><script>alert(1)</script>".utf8)
        let answers = [
            answer(page), answer(picture, 10, 10, .jpeg), answer(picture, 21, 10), answer(picture, 10, 4000),
            answer(picture, 10, 10, .webp),
            // The file has another size than is announced, and the announced size is not what the request makes of the original.
            answer(picture, 12, 10), answer(picture, 10, 10, of: PictureSize(10, 30)),
            ThumbnailAnswer.ready.head(count: 0), [UInt8](repeating: 0, count: 15), [UInt8](repeating: 0xff, count: 15),
            // Four gigabytes are announced.
            [2, 2, 2, 0, 10, 0, 10, 0, 10, 0, 10, 0xff, 0xff, 0xff, 0xff],
        ]
        for answer in answers {
            let result = try await result(of: answer)
            let failure = #expect(throws: ThumbnailFailure.self) { try result.get() }
            #expect(failure?.kind == .crashed, "\(answer.prefix(20))")
        }
    }

    @Test func `words of the program are short and steer no terminal`() async throws {
        let words = Array("a\u{1b}]0;title\u{7}\nb".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: 10_000)
        let result = try await result(of: ThumbnailAnswer.refused(.broken).head(count: words.count) + words)
        let failure = try #require(throws: ThumbnailFailure.self) { try result.get() }
        #expect(failure.kind == .broken && failure.sentence.hasPrefix("a?]0;title??b") && failure.sentence.utf8.count == 500)
    }

    @Test func `messages are read as they were written, and others are not`() throws {
        for fit in ThumbnailFit.allCases {
            for format in ThumbnailFormat.allCases {
                for small in SmallPicture.allCases {
                    var request = ThumbnailRequest(side: 4096, fit: fit, small: small, format: format, quality: small == .stay ? 100 : nil)
                    (request.height, request.leastSide, request.greatestAspect) = (1, 65_535, 65_535_000)
                    request.isUpright = small == .cut
                    let read = try #require(ThumbnailRequest.read(request.head(count: 70_000)))
                    #expect(read.request == request && read.count == 70_000)
                }
            }
        }
        for refusal in ThumbnailRefusal.allCases {
            let read = try #require(ThumbnailAnswer.read(ThumbnailAnswer.refused(refusal).head(count: 3)))
            #expect(read.answer == .refused(refusal) && read.count == 3)
        }
        // A head has one form.
        for answer in [ThumbnailAnswer.ready] + ThumbnailRefusal.allCases.map({ .refused($0) }) {
            for place in 2..<11 {
                var head = answer.head(count: 3)
                head[place] = 1
                #expect(ThumbnailAnswer.read(head) == nil, "\(answer), \(place)")
            }
        }
        var random = SeededBytes(seed: 18)
        for _ in 0..<10_000 {
            let head = random.next(count: ThumbnailRequest.headBytes)
            if let (request, _) = ThumbnailRequest.read(head) { #expect(ThumbnailRequest.sides.contains(request.width)) }
            let answer = random.next(count: ThumbnailAnswer.headBytes)
            if let (_, count) = ThumbnailAnswer.read(answer) { #expect(count <= ThumbnailAnswer.mostBytes) }
        }
        #expect(ThumbnailRequest.read([1, 1, 1]) == nil && ThumbnailAnswer.read([]) == nil)
    }
}
