import Lists

/// `--carry`: the columns of the input that go into the results.
enum CarryOption {
    static let columns = Flag(
        "carry", .text("columns"), isRepeatable: true,
        "Columns of the input, or fields of JSON lines, with commas between their names. The manifest repeats their values for each row, as an "
            + "object under 'carried'. A row whose values take more than 8 KB is invalid. This option can be repeated.")

    private static let most = 100

    static func columns(from arguments: Arguments) throws -> [CarriedColumn] {
        let names = try arguments.all(columns).flatMap { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
        guard !names.contains("") else { throw arguments.usageError("'--carry' has an empty name between its commas.") }
        guard names.count <= most else { throw arguments.usageError("'--carry' names \(names.count) columns; there may be \(most).") }
        var seen: Set<String> = []
        if let twice = names.first(where: { !seen.insert($0).inserted }) {
            throw arguments.usageError("'--carry' names \(Sentence.quoted(twice)) twice.")
        }
        return names.map { CarriedColumn($0) }
    }
}
