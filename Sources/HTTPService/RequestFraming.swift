/// Whether a request's head says clearly where the request ends, and for whom it is.
///
/// A proxy in front of this server may read an unclear head otherwise, and take the rest of one client's request for another client's
/// (RFC 9112, section 11.2). Of several lengths libmicrohttpd takes the first, and it takes chunks where there is a length too.
enum RequestFraming {
    static func isClear(_ headers: [(name: String, value: String)]) -> Bool {
        var values: [String: [String]] = [:]
        for header in headers {
            guard header.name.utf8.allSatisfy({ 0x21...0x7E ~= $0 }), !header.value.utf8.contains(where: \.isControl) else { return false }
            let name = header.name.lowercased()
            guard ["content-length", "transfer-encoding", "host"].contains(name) else { continue }
            values[name, default: []].append(header.value.lowercased())
        }
        let (lengths, encodings) = (values["content-length"] ?? [], values["transfer-encoding"] ?? [])
        guard lengths.count <= 1, lengths.isEmpty || encodings.isEmpty, values["host"]?.count ?? 0 <= 1 else { return false }
        return encodings.isEmpty || encodings == ["chunked"]
    }
}

extension UInt8 {
    /// A value may have a tab in it, and no other control character.
    fileprivate var isControl: Bool { self < 0x20 && self != 0x09 || self == 0x7F }
}
