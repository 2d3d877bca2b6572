internal import GannetBase
package import GannetHTTP
package import GannetQueue

extension BodyFolder {
    /// A URL's body as a run or an export has recorded it here last, or why it cannot be read; nil where nothing is recorded of the URL.
    ///
    /// It reads the whole record, and holds no lock: a run may be at work.
    package func recordedBody(of id: URLID) throws -> Result<[UInt8], StorageFailure>? {
        guard let record = try latestRecord(of: id) else { return nil }
        if record.isFailed || record.isUnfit {
            return .failure(StorageFailure("The folder \(displayPath) has no body of the URL: \(record.errorMessage)"))
        }
        switch PackedPlace(record.file) {
        case .sample(let file, let name)?:
            return .failure(StorageFailure("The body is in a shard: 'tar -xOf \(displayPath)/\(file) \(name)' prints it."))
        case .record(let file, let offset)?:
            let command = "warcio extract --payload \(displayPath)/\(file) \(offset)"
            return .failure(StorageFailure("The body is in an archive: '\(command)' prints it."))
        case nil: break
        }
        let stored = record.stored
        guard let digest = stored.digest, let bytes = body(record.file, size: stored.bytes, digest: digest) else {
            let file = "\(displayPath)/\(record.file.escapedForDisplay)"
            return .failure(StorageFailure("The file \(file) is missing, or has changed since the fetch."))
        }
        return .success(bytes)
    }

    private func latestRecord(of id: URLID) throws -> JobRecord? {
        let journal = "\(path)/\(RecordedFolder.name)/\(Journal.name)"
        guard access(journal, F_OK) == 0 else { return nil }
        var reader = LineReader(try LineFile(journal), from: Journal.heading.count)
        let start = Array(id.bytes.hexadecimal.utf8)
        var record: JobRecord?
        while try reader.next({ _, line in if line.starts(with: start) { record = JobRecord(line: line) ?? record } }) {}
        return record
    }
}
