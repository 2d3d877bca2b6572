internal import CMicrohttpd
internal import GannetHTTP

/// Whether a request's head says clearly where the request ends, and for whom it is.
///
/// A proxy in front of this server may read an unclear head otherwise, and take the rest of one client's request for another client's
/// (RFC 9112, section 11.2). Of several lengths libmicrohttpd takes the first, and it takes chunks where there is a length too.
package enum RequestFraming {
    package static func isClear(_ headers: [(name: String, value: String)]) -> Bool {
        var values: [String: [String]] = [:]
        for header in headers {
            guard header.name.utf8.allSatisfy({ 0x21...0x7E ~= $0 }), header.value.utf8.allSatisfy(\.isValueByte) else { return false }
            let name = header.name.lowercased()
            guard ["content-length", "transfer-encoding", "host"].contains(name) else { continue }
            values[name, default: []].append(header.value.lowercased())
        }
        let (lengths, encodings) = (values["content-length"] ?? [], values["transfer-encoding"] ?? [])
        guard lengths.count <= 1, lengths.isEmpty || encodings.isEmpty, values["host"]?.count ?? 0 <= 1 else { return false }
        return encodings.isEmpty || encodings == ["chunked"]
    }
}

/// The parts of a request's head where libmicrohttpd keeps them, in their order: the target, the version, then each name and each value.
///
/// Up to version 0.9.76 libmicrohttpd reads a NUL as the end of a value, and a value that goes on in the next line in another way than it
/// shows. It cuts the head in place, so between two parts stand only the bytes that separate them. Where others stand, or where a part was
/// moved, the head has said more than its parts do.
struct HeadParts {
    private(set) var isWhole = true
    private var end: UnsafeRawPointer?
    /// The target and the version have one byte between them, which has been overwritten.
    private var mostZeros = 1

    /// The bytes that this version of libmicrohttpd has left out of no head.
    static let isNeeded = MHD_VERSION < 0x0009_7700

    private static let largestHead = 64 * 1024

    mutating func note(_ start: UnsafeRawPointer, count: Int) {
        if let end {
            let gap = start - end
            guard isWhole, (1...Self.largestHead).contains(gap) else {
                isWhole = false
                return
            }
            let between = UnsafeRawBufferPointer(start: end, count: gap)
            isWhole = between.allSatisfy(\.separates) && between.lazy.filter { $0 == 0 }.count <= mostZeros
            mostZeros = .max
        }
        end = start + count
    }
}

extension UInt8 {
    /// Colons and the ends of lines have been overwritten.
    fileprivate var separates: Bool { self == 0 || self == 0x20 || self == 0x09 || self == 0x0D || self == 0x0A }
}
