internal import GannetBase

/// The file of the program that makes thumbnails.
package struct ThumbnailProgram: Sendable {
    package static let name = "gannet-thumbnail"

    private let path: String
    private let isNamed: Bool

    /// - Parameters:
    ///   - named: The file that the user names; nil is the one beside `own`.
    ///   - own: The file of this process' program.
    package init(named: String?, beside own: String) {
        isNamed = named != nil
        path = named ?? (own.lastIndex(of: "/").map { String(own[...$0]) } ?? "./") + Self.name
    }

    /// The file, if it can be run.
    func find() throws(ThumbnailFailure) -> String {
        if access(path, X_OK) == 0 { return path }
        throw ThumbnailFailure(
            .missing,
            isNamed
                ? "The program for thumbnails, \(path), cannot be run: \(Descriptor.message(errno))."
                : "Thumbnails need the program gannet-thumbnail beside gannet: install libvips-dev and libseccomp-dev, build gannet again, or name "
                    + "the program with '--thumbnail-program'.")
    }
}
