internal import ClusterState
internal import GannetBasics

extension RecordedFolder {
    /// What came of looking at the files that earlier runs have brought.
    package struct Checked: Sendable, Equatable {
        package var sound = 0
        /// Missing, or not what was fetched.
        package var broken = 0
        /// As they were, and older than is wanted.
        package var old = 0
    }

    /// Files looked at at once: hashing keeps as many processors busy, and a disk as many requests.
    private static let threads = 4
    private static let batch = 64

    /// Looks at the files of all listed URLs that were there before this run: their sizes, then their bytes. It ends early when it is cancelled.
    package func check() async throws(OutputFailure) -> Checked {
        let walk = Condition(CheckWalk(of: journal))
        let results = await withTaskCancellationHandler {
            await withTaskGroup(of: Result<Checked, OutputFailure>.self) { group in
                for _ in 0..<Self.threads {
                    group.addTask { await OwnedThread.result(name: "gannet-folder") { () throws(OutputFailure) in try self.check(walk) } }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
        } onCancel: {
            walk.withLock { $0.end() }
        }
        var all = Checked()
        for result in results {
            let part = try result.get()
            all.sound += part.sound
            all.broken += part.broken
            all.old += part.old
        }
        return all
    }

    private func isTooOld(_ record: JobRecord, _ check: FileCheck) -> Bool {
        guard case .younger(let limit) = demand else { return false }
        return check.age(of: record.file).map { $0 > limit } ?? false
    }

    /// One thread's part.
    private func check(_ walk: Condition<CheckWalk>) throws(OutputFailure) -> Checked {
        var checked = Checked()
        let check = FileCheck(in: folder.path)
        while true {
            let records = try walk.withLock { walk in Result { () throws(OutputFailure) in try walk.next(Self.batch) } }.get()
            if records.isEmpty { return checked }
            for record in records {
                let isSound = check.isSound(record)
                let isOld = isSound && isTooOld(record, check)
                if isOld { checked.old += 1 } else if isSound { checked.sound += 1 } else { checked.broken += 1 }
                try journal.mark(record.id, isSound && !isOld ? .sound : .broken)
            }
        }
    }
}
