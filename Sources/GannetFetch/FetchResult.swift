public import HTTPEngine

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What became of one URL of many.
public struct FetchResult: Sendable {
    public var url: URL
    public var result: Result<Data, FetchError>
}
