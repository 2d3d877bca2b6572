import GannetRedisClient

/// Replies as a server sends them.
enum RESP {
    /// Reads a stream of replies that comes in pieces of this size.
    static func read(_ bytes: [UInt8], pieces size: Int, limit: Int) -> (replies: [RedisReply], error: RedisError?) {
        let reader = ReplyReader(maximumReplyBytes: limit)
        var replies: [RedisReply] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            do throws(RedisError) {
                let piece = Array(bytes[start..<min(start + size, bytes.count)])
                // The function `withUnsafeBytes` has no typed errors.
                let result = piece.withUnsafeBytes { bytes -> Result<Void, RedisError> in
                    do throws(RedisError) {
                        return .success(try reader.feed(bytes) { replies.append($0) })
                    } catch {
                        return .failure(error)
                    }
                }
                try result.get()
            } catch {
                return (replies, error)
            }
        }
        return (replies, nil)
    }

    /// The first reply, without a bound on its size.
    static func first(_ bytes: [UInt8]) -> RedisReply? { read(bytes, pieces: max(1, bytes.count), limit: .max / 2).replies.first }

    /// The bytes of a reply; nil for a reply with an error, whose text is not kept.
    static func bytes(_ reply: RedisReply) -> [UInt8]? {
        switch reply {
        case .status(let text): return Array("+\(text)\r\n".utf8)
        case .integer(let number): return Array(":\(number)\r\n".utf8)
        case .bytes(let bytes): return Array("$\(bytes.count)\r\n".utf8) + bytes + Array("\r\n".utf8)
        case .null: return Array("$-1\r\n".utf8)
        case .error: return nil
        case .array(let elements):
            var bytes = Array("*\(elements.count)\r\n".utf8)
            for element in elements {
                guard let part = self.bytes(element) else { return nil }
                bytes += part
            }
            return bytes
        }
    }

    /// The bytes of an array of texts, for the beginnings of inputs.
    static func texts(_ texts: String...) -> [UInt8] { bytes(.array(texts.map { .text($0) })) ?? [] }

    /// How many elements a reply has with those of its arrays, and how deep they lie.
    static func size(_ reply: RedisReply) -> (elements: Int, depth: Int) {
        guard case .array(let parts) = reply else { return (1, 0) }
        return parts.map { size($0) }.reduce((1, 1)) { ($0.0 + $1.elements, max($0.1, $1.depth + 1)) }
    }
}

extension RedisReply {
    static func text(_ text: String) -> RedisReply { .bytes(Array(text.utf8)) }
}
