import Foundation
import GannetTestKit

/// The folder that programs fill.
struct FolderOfFiles: Sendable {
    let path: String

    /// Runs a program that has to leave so many files in the folder. The folder is a new one each time.
    func measure(_ command: Command, _ count: Int, on stage: Stage, usesRedis: Bool = false) async throws -> Contest.Run {
        try await stage.clear()
        try renew()
        var end: Command.End?
        let redis = try await stage.work { end = try await command.run() }
        let files = try self.count
        guard let end, files == count else { throw KitError("\(command.name) left \(files) files of \(count): \(end?.errors ?? "")") }
        try renew()
        return Contest.Run(count, end, redis: usesRedis ? redis : nil)
    }

    /// Moves the folder aside, where its files stay without bytes until the end. ext4 does not use the inode of a removed file again for
    /// some time. It passes each of these by for every new file, and after the removal of thousands that takes most of the time.
    private func renew() throws {
        if FileManager.default.fileExists(atPath: path) {
            let aside = "\(path)-\(UUID().uuidString)"
            try FileManager.default.moveItem(atPath: path, toPath: aside)
            guard let names = FileManager.default.enumerator(atPath: aside) else { return }
            while let name = names.nextObject() as? String {
                if names.fileAttributes?[.type] as? FileAttributeType == .typeRegular { truncate("\(aside)/\(name)", 0) }
            }
        }
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    /// How many files are in it and in the folders below it, without the programs' records about them.
    private var count: Int {
        get throws {
            var count = 0
            guard let names = FileManager.default.enumerator(atPath: path) else { return 0 }
            while let name = names.nextObject() as? String {
                let isRecord =
                    name.hasPrefix(".") || name.contains("/.") || [".jsonl", ".json", ".parquet"].contains { name.hasSuffix($0) }
                if !isRecord, names.fileAttributes?[.type] as? FileAttributeType == .typeRegular { count += 1 }
            }
            return count
        }
    }
}
