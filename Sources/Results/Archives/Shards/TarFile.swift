internal import CArchive
internal import GannetBase
internal import GannetHTTP

/// A tar file that is being written, by libarchive. Equal parts give equal bytes: owner, time and permissions are the same for all.
final class TarFile {
    let file: OpenedFile
    private let archive: OpaquePointer
    private let entry: OpaquePointer
    /// The bytes of bodies and their headers, without what libarchive still holds.
    private(set) var size = 0

    init(_ file: OpenedFile) throws {
        guard let archive = archive_write_new() else { throw StorageFailure("There is no memory for a tar file.") }
        guard let entry = archive_entry_new() else {
            archive_write_free(archive)
            throw StorageFailure("There is no memory for a tar file.")
        }
        (self.archive, self.entry, self.file) = (archive, entry, file)
        try check(archive_write_set_format_ustar(archive))
        try check(archive_write_open_fd(archive, file.descriptor))
    }

    deinit {
        // After a failure there is nothing to end.
        archive_write_fail(archive)
        archive_write_free(archive)
        archive_entry_free(entry)
    }

    func add(_ name: String, _ content: ArchiveContent) throws {
        archive_entry_clear(entry)
        archive_entry_set_pathname(entry, name)
        archive_entry_set_filetype(entry, UInt32(gannet_archive_regular_file()))
        archive_entry_set_perm(entry, 0o644)
        archive_entry_set_mtime(entry, 0, 0)
        archive_entry_set_size(entry, Int64(content.count))
        try check(archive_write_header(archive, entry))
        try content.read { bytes in
            let written = archive_write_data(archive, bytes.baseAddress, bytes.count)
            guard written == bytes.count else { throw failure() }
        }
        try check(archive_write_finish_entry(archive))
        size += 512 + (content.count + 511) / 512 * 512
    }

    /// Writes the end of the file. Nothing is added afterwards.
    func end() throws { try check(archive_write_close(archive)) }

    private func check(_ code: Int32) throws {
        if code != ARCHIVE_OK { throw failure() }
    }

    private func failure() -> StorageFailure {
        let code = archive_errno(archive)
        return .ofArchive("written", file.path, code > 0 ? code : EIO)
    }

    /// The names of the parts of a complete file.
    static func names(in path: String) throws -> [String] {
        let file = try OpenedFile(path, O_RDONLY)
        _ = try file.size
        guard let archive = archive_read_new() else { throw StorageFailure("There is no memory for a tar file.") }
        defer { archive_read_free(archive) }
        archive_read_support_format_tar(archive)
        var names: [String] = []
        guard archive_read_open_fd(archive, file.descriptor, 1 << 16) == ARCHIVE_OK else { throw damage(archive, path) }
        var entry: OpaquePointer?
        while true {
            switch archive_read_next_header(archive, &entry) {
            case ARCHIVE_OK: if let entry, let name = archive_entry_pathname(entry) { names.append(String(cString: name)) }
            case ARCHIVE_EOF: return names
            default: throw damage(archive, path)
            }
        }
    }

    private static func damage(_ archive: OpaquePointer, _ path: String) -> StorageFailure {
        .foreign(path, "is not a whole tar file: \(archive_error_string(archive).map { String(cString: $0) } ?? "unknown damage").")
    }
}
