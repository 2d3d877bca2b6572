internal import GannetBase

/// Why a table was not read or written.
package enum TableFailure: Error, Sendable, Equatable {
    /// No `python3` in PATH.
    case noPython
    /// Python has no module of this name; nearly always `pyarrow`.
    case noModule(String, program: String)
    /// The program cannot be started: an `errno`.
    case cannotStart(Int32)
    /// The program has ended in another way than its script does, or said nothing for too long.
    case program(String)
    /// The table has no column of that name, or no usual one; the first of its columns, and the number of all.
    case noSuchColumn(String?, columns: [String], of: Int)
    /// A column of URLs that is not text.
    case notText(column: String, type: String)
    /// The file is damaged, cut off, or something else.
    case unreadable(String)
    /// The system has refused to read or to write, with its own words.
    case system(String)
    /// A page of the file needs too much memory.
    case memory

    /// Reads what a script wrote to its descriptor for problems.
    init?(words bytes: [UInt8], program: String) {
        let words = bytes.split(separator: 0, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
        switch words.first {
        case "module" where words.count == 2: self = .noModule(words[1], program: program)
        case "column" where words.count >= 3:
            self = .noSuchColumn(words[1].isEmpty ? nil : words[1], columns: Array(words[3...]), of: Int(words[2]) ?? 0)
        case "type" where words.count == 3: self = .notText(column: words[1], type: words[2])
        case "unreadable" where words.count == 2: self = .unreadable(words[1])
        case "system" where words.count == 2: self = .system(words[1])
        case "memory": self = .memory
        case "broken" where words.count == 2: self = .program(words[1])
        default: return nil
        }
    }

    /// The input or the output is at fault, and not the machine.
    package var isOfTable: Bool {
        switch self {
        case .noSuchColumn, .notText, .unreadable, .system, .memory: true
        case .noPython, .noModule, .cannotStart, .program: false
        }
    }
}
