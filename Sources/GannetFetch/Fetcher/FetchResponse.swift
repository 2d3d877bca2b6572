public import FoundationEssentials
public import GannetHTTP
public import GannetPictures

/// An answer with its status, its headers and its source.
public struct FetchResponse: Sendable, Hashable {
    /// The body, unpacked.
    public var data: Data
    /// The URL that answered, after redirects.
    public var finalURL: URL
    /// From 200 to 299.
    public var status: Int
    /// All headers of an answer that has just come. A kept answer has an `Age`, and no cookies and headers of the connection. An answer from a
    /// shared cache has only the headers that describe the body or decide about keeping it.
    public var headers: ResponseHeaders
    /// The tier that had the answer, or the network.
    public var source: AnswerSource

    /// An answer of your own, for ``Fetcher/init(_:answering:)``.
    public init(_ data: Data, from url: URL, status: Int = 200, headers: ResponseHeaders = [:]) {
        self.data = data
        finalURL = url
        self.status = status
        self.headers = headers
        source = .network
    }

    /// - Parameter url: The URL of the request, which counts where the final one is none for Foundation.
    init(_ served: ServedAnswer, for url: URL) {
        data = Data(served.body)
        finalURL = URL(string: served.finalURL) ?? url
        status = served.status
        headers = served.headers
        source = served.source
    }
}

/// The bytes of an image that have been examined: they are an image, it is whole, and it is no larger than permitted.
public struct FetchedImage: Sendable, Hashable {
    public var data: Data
    public var format: ImageFormat
    /// In pixels; an SVG may have none.
    public var size: ImageSize?
}

/// Prints without the URL's password, the values of headers that may be secrets, and the bytes: in a log, in a dump, or as a part of another
/// value.
extension FetchResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { customMirror.printed }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        let values: KeyValuePairs<String, Any> = [
            "finalURL": RedactedURL(finalURL.absoluteString).description, "status": status, "headers": headers, "data": data.sizeInWords,
            "source": source,
        ]
        return Mirror(self, children: values, displayStyle: .struct)
    }
}

/// Prints the number of bytes in place of the bytes.
extension FetchedImage: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { customMirror.printed }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        Mirror(self, children: ["data": data.sizeInWords, "format": format, "size": size as Any], displayStyle: .struct)
    }
}

extension Data {
    /// In place of the bytes, which a dump of a short body would show.
    var sizeInWords: String { "\(count) byte\(count == 1 ? "" : "s")" }
}
