internal import GannetHTTP

extension StorageFailure {
    init(_ error: ArchiveError) {
        if case .system(_, _, let errno) = error {
            self.init(.other(error.description, errno: errno))
        } else {
            self.init(error.description)
        }
    }

    /// Runs a part that writes archives, whose failures become those of a storage.
    static func ofArchives<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as ArchiveError {
            throw StorageFailure(error)
        }
    }
}
