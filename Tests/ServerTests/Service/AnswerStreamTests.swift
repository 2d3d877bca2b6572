import Testing

@testable import Server

/// A stream between its writer and its connection, without a connection.
@Suite(.timeLimit(.minutes(3))) struct AnswerStreamTests {
    /// So large that its writer waits until it is taken.
    private static let piece = [UInt8](repeating: 7, count: 300_000)

    private func take(from stream: AnswerStream, _ count: Int) async -> AnswerStream.Piece {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
        defer { room.deallocate() }
        while true {
            let piece = stream.take(into: room)
            if piece != .none { return piece }
            await Task.yield()
        }
    }

    @Test func `a writer whose last bytes were taken has written them, though the answer ends at once`() async throws {
        for _ in 0..<200 {
            let stream = AnswerStream {}
            let writer = Task { try await stream.write(Self.piece) }
            #expect(await take(from: stream, Self.piece.count) == .bytes(Self.piece.count))
            stream.finish(.failure)
            writer.cancel()
            try await writer.value
        }
    }

    @Test func `a writer learns that its client has left when bytes are left over`() async throws {
        let stream = AnswerStream {}
        let writer = Task { try await stream.write(Self.piece) }
        #expect(await take(from: stream, 1000) == .bytes(1000))
        stream.finish(.failure)
        writer.cancel()
        await #expect(throws: ClientLeft()) { try await writer.value }
        await #expect(throws: ClientLeft()) { try await stream.write([1]) }
    }

    @Test func `a pause ends early when the server is about to end, and no pause follows`() async throws {
        let stream = AnswerStream {}
        let writer = Task { try await stream.pause(for: .seconds(3600)) }
        await Task.yield()
        stream.prepareToEnd()
        #expect(try await writer.value == false)
        #expect(try await stream.pause(for: .seconds(3600)) == false)
    }
}
