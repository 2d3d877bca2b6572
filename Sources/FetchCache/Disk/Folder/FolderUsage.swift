/// How much there is in a folder.
package struct FolderUsage: Sendable, Hashable {
    /// Counted as ``FolderOptions/limit`` says.
    package var bytes: Int64
    package var files: Int
    /// Whether all of the folder has been looked at since it was opened. What others did since then is estimated.
    package var isCounted: Bool
}
