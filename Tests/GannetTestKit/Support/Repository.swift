package import Foundation

/// Files of the checkout that the tests were built from.
package enum Repository {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardizedFileURL

    /// The place of a file or folder, such as `Docs/REDIS.md`.
    package static func url(_ path: String) -> URL { root.appending(path: path) }
}
