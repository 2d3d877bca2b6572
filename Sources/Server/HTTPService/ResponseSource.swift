internal import CMicrohttpd

/// Where libmicrohttpd takes the bytes of an answer from.
enum ResponseSource {
    /// Small bodies are handed over whole, large ones piece by piece as the client takes them.
    /// - Parameter isSent: Whether the answer has its body with it. A small body counts at once.
    static func response(_ bytes: [UInt8], _ counts: HTTPServiceCounts, isSent: Bool) -> OpaquePointer? {
        if bytes.count <= 32 << 10 {
            if isSent { counts.note { $0.bodyBytes += bytes.count } }
            return whole(bytes)
        }
        let held = Unmanaged.passRetained(Bytes(bytes, counts))
        let response = MHD_create_response_from_callback(
            UInt64(bytes.count), block,
            { context, position, room, most in
                guard let context, let room else { return ResponseSource.failure }
                let held = Unmanaged<Bytes>.fromOpaque(context).takeUnretainedValue()
                let part = held.bytes[Int(position)...].prefix(most)
                held.counts.note { $0.bodyBytes += part.count }
                UnsafeMutableRawBufferPointer(start: room, count: most).copyBytes(from: part)
                return part.count
            }, held.toOpaque(), { context in context.map { Unmanaged<Bytes>.fromOpaque($0).release() } })
        if response == nil { held.release() }
        return response
    }

    /// libmicrohttpd reads the array's own memory, which nobody changes, until the last connection has sent it.
    private static func whole(_ bytes: [UInt8]) -> OpaquePointer? {
        bytes.withUnsafeBytes { memory in
            guard let base = memory.baseAddress, !memory.isEmpty else {
                return MHD_create_response_from_buffer(0, nil, .RESPMEM_PERSISTENT)
            }
            let held = Unmanaged.passRetained(Held(bytes))
            let response = MHD_create_response_from_buffer_with_free_callback_cls(
                memory.count, UnsafeMutableRawPointer(mutating: base),
                { context in context.map { Unmanaged<Held>.fromOpaque($0).release() } }, held.toOpaque())
            if response == nil { held.release() }
            return response
        }
    }

    static func response(_ stream: AnswerStream, length: Int?, _ suspension: Suspension, _ counts: HTTPServiceCounts) -> OpaquePointer? {
        let held = Unmanaged.passRetained(Source(stream: stream, suspension: suspension, counts: counts))
        let response = MHD_create_response_from_callback(
            length.map { UInt64($0) } ?? .max, block,
            { context, _, room, most in
                guard let context, let room else { return ResponseSource.failure }
                let source = Unmanaged<Source>.fromOpaque(context).takeUnretainedValue()
                source.suspension.begin()
                switch source.stream.take(into: UnsafeMutableRawBufferPointer(start: room, count: most)) {
                case .bytes(let count):
                    source.counts.note { $0.bodyBytes += count }
                    return count
                case .end: return ResponseSource.end
                case .failure: return ResponseSource.failure
                case .none:
                    source.suspension.sleep()
                    return 0
                }
            }, held.toOpaque(), { context in context.map { Unmanaged<Source>.fromOpaque($0).release() } })
        if response == nil { held.release() }
        return response
    }

    private static let block = 64 << 10
    // libmicrohttpd's MHD_CONTENT_READER_END_OF_STREAM and _END_WITH_ERROR, whose casts Swift does not read.
    private static let end = -1
    private static let failure = -2

    private final class Bytes: Sendable {
        let bytes: [UInt8]
        let counts: HTTPServiceCounts

        init(_ bytes: [UInt8], _ counts: HTTPServiceCounts) {
            self.bytes = bytes
            self.counts = counts
        }
    }

    private final class Held: Sendable {
        let bytes: [UInt8]

        init(_ bytes: [UInt8]) { self.bytes = bytes }
    }

    private final class Source: Sendable {
        let stream: AnswerStream
        let suspension: Suspension
        let counts: HTTPServiceCounts

        init(stream: AnswerStream, suspension: Suspension, counts: HTTPServiceCounts) {
            self.stream = stream
            self.suspension = suspension
            self.counts = counts
        }
    }
}
