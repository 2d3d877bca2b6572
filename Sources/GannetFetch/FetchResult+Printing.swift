internal import HTTPEngine

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Prints without the URL's password, whoever prints it: in a log, in a dump, or as a part of something else.
extension FetchResult: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { customMirror.printed }
    public var debugDescription: String { description }
    public var customMirror: Mirror {
        Mirror(self, children: ["url": RedactedURL(url.absoluteString).description, "result": result], displayStyle: .struct)
    }
}
