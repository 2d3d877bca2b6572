/// How a body is encoded, by the headers of its answer.
package enum ContentEncodings {
    /// The names in small letters and in the order in which the encodings were applied; none that changes nothing, and at most five.
    package static func names(in headers: ResponseHeaders, of header: StaticString = "content-encoding") -> [String] {
        guard headers.has(header) else { return [] }
        let values = headers.values(of: header.description)
        let names = values.joined(separator: ",").lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
        return names.lazy.map { String($0.prefix(40)) }.filter { !harmless.contains($0) }.prefix(5).map(\.self)
    }

    private static let harmless: Set<String> = ["identity", "none", "chunked"]
}
