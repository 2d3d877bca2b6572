import GannetTestKit
import Testing

@testable import GannetHTTP

/// Memory of large bodies that is used again.
@Suite(.timeLimit(.minutes(3))) struct BodyBuffersTests {
    private static func place(_ bytes: [UInt8]) -> UnsafeRawPointer? { bytes.withUnsafeBytes(\.baseAddress) }

    @Test func `the memory of a body that its caller has dropped is the next one's`() {
        let buffers = BodyBuffers()
        var places: Set<UnsafeRawPointer?> = []
        for _ in 0..<20 {
            var bytes = buffers.take(1_000_000)
            #expect(bytes.isEmpty)
            bytes.append(7)
            places.insert(Self.place(bytes))
            buffers.keep(bytes)
            #expect(buffers.count == 1)
        }
        #expect(places.count == 1)
    }

    @Test func `a body that its caller still has keeps its bytes`() {
        let buffers = BodyBuffers()
        let first = [UInt8](repeating: 1, count: 100_000)
        buffers.keep(first)
        var second = buffers.take(100_000)
        #expect(second.isEmpty)
        second += [UInt8](repeating: 2, count: 100_000)
        #expect(first == [UInt8](repeating: 1, count: 100_000))
        #expect(Self.place(first) != Self.place(second))
    }

    @Test func `memory that is too small, or much too large, is not taken`() {
        let buffers = BodyBuffers()
        buffers.keep([UInt8](repeating: 1, count: 200_000))
        #expect(buffers.take(300_000).capacity >= 300_000)
        #expect(buffers.take(100_000).capacity < 150_000)
        #expect(buffers.count == 1)
        _ = buffers.take(195_000)
        #expect(buffers.count == 0)
    }

    @Test func `small and very large bodies are not kept, and all kept ones stay below a bound`() {
        let buffers = BodyBuffers()
        buffers.keep([UInt8](repeating: 1, count: 1000))
        buffers.keep([UInt8](repeating: 1, count: BodyBuffers.largest * 2))
        #expect(buffers.count == 0)
        #expect(buffers.deadline == nil)
        for _ in 0..<50 { buffers.keep([UInt8](repeating: 1, count: 1_000_000)) }
        #expect((10...16).contains(buffers.count))
    }

    @Test func `kept memory is dropped when no large body has ended for a while`() {
        let buffers = BodyBuffers()
        let start = ContinuousClock.now
        buffers.keep([UInt8](repeating: 1, count: 100_000), at: start)
        buffers.keep([UInt8](repeating: 1, count: 100_000), at: start + .milliseconds(900))
        buffers.drop(at: start + .milliseconds(1100))
        #expect(buffers.count == 2)
        buffers.drop(at: start + .seconds(2))
        #expect(buffers.count == 0)
        #expect(buffers.deadline == nil)
    }

    @Test func `bodies that are held stay as they came while others come`() async throws {
        let fixture = try EngineFixture { peer in
            peer.answer(body: [UInt8](repeating: UInt8(peer.path.dropFirst()) ?? 0, count: 200_000))
        }
        var held: [[UInt8]] = []
        for number in 1...20 {
            let destination = BodyDestination.memory(upTo: 1 << 20, thenFileIn: fixture.folder.path)
            let download = try await fixture.engine.download(DownloadRequest(url: fixture.origin.url("/\(number)"), body: destination))
            let bytes = try fixture.contents(download)
            // Each second one is dropped.
            if number.isMultiple(of: 2) { held.append(bytes) }
        }
        for (index, bytes) in held.enumerated() {
            let isWhole = bytes == [UInt8](repeating: UInt8(2 * index + 2), count: 200_000)
            #expect(isWhole)
        }
    }
}
