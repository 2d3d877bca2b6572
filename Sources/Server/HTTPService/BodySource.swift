internal import CMicrohttpd

/// Where libmicrohttpd takes the bytes of an answer from.
final class BodySource: Sendable {
    private let request: ServedRequest
    private let bytes: [UInt8]
    private let stream: AnswerStream?

    private static let block = 64 << 10
    // libmicrohttpd's MHD_CONTENT_READER_END_OF_STREAM and _END_WITH_ERROR, whose casts Swift does not read.
    private static let end = -1
    private static let failure = -2

    init(_ request: ServedRequest, _ bytes: [UInt8], _ stream: AnswerStream?) {
        self.request = request
        self.bytes = bytes
        self.stream = stream
    }

    func response(length: Int?) -> OpaquePointer? {
        let held = Unmanaged.passRetained(self)
        let response = MHD_create_response_from_callback(
            length.map { UInt64($0) } ?? .max, Self.block,
            { context, position, room, most in
                guard let context, let room else { return BodySource.failure }
                let source = Unmanaged<BodySource>.fromOpaque(context).takeUnretainedValue()
                return source.take(Int(position), UnsafeMutableRawBufferPointer(start: room, count: most))
            }, held.toOpaque(), { context in context.map { Unmanaged<BodySource>.fromOpaque($0).release() } })
        if response == nil { held.release() }
        return response
    }

    /// Moves bytes to the connection, and says how many.
    private func take(_ position: Int, _ room: UnsafeMutableRawBufferPointer) -> Int {
        let count: Int
        if let stream {
            request.isAsked()
            switch stream.take(into: room) {
            case .bytes(let taken): count = taken
            case .end: return Self.end
            case .failure: return Self.failure
            case .none:
                request.fallAsleep()
                return 0
            }
        } else {
            let part = bytes[position...].prefix(room.count)
            room.copyBytes(from: part)
            count = part.count
        }
        request.sent(count)
        return count
    }
}
