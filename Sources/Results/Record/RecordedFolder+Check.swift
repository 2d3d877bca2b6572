internal import GannetBase
internal import GannetQueue

extension RecordedFolder {
    /// The files of earlier runs, counted by their state.
    package struct Checked: Sendable, Equatable {
        package var sound = 0
        /// Files that are missing, or have other bytes than were fetched.
        package var broken = 0
        /// Files that are unchanged, but older than the run accepts.
        package var old = 0
    }

    /// The number of files that are checked at a time. Hashing uses as many processors, and a disk serves as many requests.
    private static let threads = 4
    private static let batch = 64

    /// Checks the files of all listed URLs that earlier runs fetched: their sizes, then their bytes. A cancelled check ends early.
    package func check() async throws -> Checked {
        if case .failed = demand { return Checked() }
        let lines = Condition<LineReader?>(journal.earlierLines())
        return try await withTaskCancellationHandler {
            try await withThrowingTaskGroup(of: Checked.self) { group in
                for _ in 0..<Self.threads {
                    group.addTask { try await OwnedThread.run(name: "gannet-folder") { try self.check(lines) } }
                }
                return try await group.reduce(into: Checked()) { all, part in
                    all.sound += part.sound
                    all.broken += part.broken
                    all.old += part.old
                }
            }
        } onCancel: {
            lines.withLock { $0 = nil }
        }
    }

    private func isTooOld(_ record: JobRecord) -> Bool {
        guard case .younger(let limit) = demand else { return false }
        if record.knownAt > 0 { return Date().timeIntervalSince1970 * 1000 - Double(record.knownAt) > limit / .milliseconds(1) }
        // Nothing says when it was fetched.
        if record.isUnfit { return true }
        let age =
            PackedPlace(record.file).map { $0.age } ?? folder.time(of: record.file).map { Duration.seconds(Date().timeIntervalSince($0)) }
        return age.map { $0 > limit } ?? false
    }

    /// Whether the body of a record is where it says: in an archive or a shard, or in a file of its own, with the right bytes.
    func isSound(_ record: JobRecord) -> Bool {
        PackedPlace(record.file)?.isThere(in: folder.path) ?? folder.isSound(record)
    }

    /// The same without reading the file of a body.
    func isThere(_ record: JobRecord) -> Bool {
        if record.isPacked { return isSound(record) }
        return !record.file.isEmpty && folder.hasFile(record.file, size: record.stored.bytes)
    }

    /// How many files are named like bodies and belong to no URL of the record or of the list, and one of them. A run that was killed between
    /// a file and its record has left such a file, and a lost record leaves all. They may be the user's, so nothing removes them.
    package func strays() async -> (count: Int, example: String) {
        await OwnedThread.run(name: "gannet-folder") {
            var found = (count: 0, example: "")
            for name in self.names(in: ".") {
                // Other folders may be those of hosts.
                let folders =
                    BodyName.isFanOut(name) ? [name] : self.names(in: name).filter(BodyName.isFanOut).map { "\(name)/\($0)" }
                for folder in folders { self.countStrays(in: folder, &found) }
            }
            return found
        }
    }

    private func names(in name: String) -> [String] { folder.files(in: name).filter { !$0.hasPrefix(".") } }

    private func countStrays(in name: String, _ found: inout (count: Int, example: String)) {
        for inner in names(in: name) {
            let path = "\(name)/\(inner)"
            guard let id = URLID(ofFile: inner) else {
                countStrays(in: path, &found)
                continue
            }
            guard journal[id] == nil else { continue }
            found.count += 1
            if found.example.isEmpty { found.example = path }
        }
    }

    /// The work of one thread.
    /// - Parameter lines: The threads share the lines of earlier runs.
    private func check(_ lines: Condition<LineReader?>) throws -> Checked {
        var checked = Checked()
        while true {
            let records = try lines.withLock { lines in Result { try next(&lines) } }.get()
            if records.isEmpty { return checked }
            for record in records {
                let isSound = record.isUnfit || isSound(record)
                let isOld = isSound && isTooOld(record)
                if isOld { checked.old += 1 } else if isSound { checked.sound += 1 } else { checked.broken += 1 }
                try journal.mark(record.id, isSound && !isOld ? .sound : .broken)
            }
        }
    }

    /// The next records whose files are checked, in the order in which they were written; none at the end.
    private func next(_ lines: inout LineReader?) throws -> [JobRecord] {
        var records: [JobRecord] = []
        while records.count < Self.batch {
            let isMore = try lines?.next { offset, line in
                guard let (id, isFailed) = JobRecord.key(of: line), !isFailed, let entry = journal[id], entry.offset == offset,
                    entry.marks.contains(.listed), !entry.marks.contains(.queued), let record = JobRecord(line: line)
                else { return }
                records.append(record)
            }
            if isMore != true { break }
        }
        return records
    }
}
