public import FoundationEssentials

/// A picture of the user's data: its URL, and whatever else is known before it is fetched.
public struct Picture: Sendable, Hashable, Identifiable {
    /// Tells the picture from all others of a list, and names it among the favourites.
    public var id: String
    public var url: URL
    public var title: String
    /// The time to order and group by, such as the time of the photograph.
    public var date: Date?
    /// The length of the file. A ``PictureList`` fills it in when it has loaded the picture.
    public var byteCount: Int64?

    /// A picture whose `id` is its URL's text, unless another is given. ``Favourites`` write it into their file, so a picture whose URL has a
    /// signature wants an `id` of its own.
    public init(_ url: URL, id: String? = nil, title: String = "", date: Date? = nil, byteCount: Int64? = nil) {
        self.id = id ?? url.absoluteString
        self.url = url
        self.title = title
        self.date = date
        self.byteCount = byteCount
    }
}

/// Prints without the URL's password: in a log, in a dump, or as a part of another value.
extension Picture: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        title.isEmpty ? "\(RedactedURL(url.absoluteString))" : "\(title) (\(RedactedURL(url.absoluteString)))"
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["url": RedactedURL(url.absoluteString).description, "title": title]) }
}
