import GannetBase
import GannetHTTP
import Results

/// `gannet diff OLD NEW`: the changes from one manifest to another.
enum DiffCommand {
    private static let exitCode = Toggle("exit-code", hasVariable: false, "End with 1 where the manifests differ in any URL.")

    static let spec = CommandSpec(
        "diff",
        summary: "Compare two manifests: which bodies have changed, and which URLs were added, removed, failed or mended.",
        discussion:
            "Bodies are compared by their SHA-256. A URL counts once, with its first row. 'run' replaces the manifest of its folder, so keep a copy of the "
            + "earlier one. The exit status is 0, whatever has changed, unless '--exit-code' is given.",
        positional: Positional(
            "manifest", completion: .file, "The earlier and the later manifest: a file each, or the folder that holds it."),
        flags: [exitCode.entry, CommonFlags.json.entry] + CommonFlags.everywhere,
        examples: [
            "gannet diff monday.jsonl out": "Lists the changes from a copied manifest to that of the folder 'out'.",
            "gannet diff old new --json | jq -r 'select(.change == \"changed\").url'": "Prints the URLs whose bodies have changed.",
        ]
    ) { arguments in
        guard arguments.positionals.count == 2 else {
            throw arguments.usageError("Give two manifests: the earlier one, then the later one.")
        }
        let (old, new, json) = (arguments.positionals[0], arguments.positionals[1], arguments.isSet(CommonFlags.json))
        let console = Console(try LogOptions(arguments))
        let comparison: ManifestComparison
        do {
            comparison = try ManifestComparison(old, new, folder: FileManager.default.temporaryDirectory.path)
            try comparison.run { change in try console.print(json ? Self.json(change).text : text(change)) }
        } catch let failure as StorageFailure {
            throw CommandFailure(.noUsableInput, failure.sentence)
        }
        if comparison.unreadable > 0 {
            let lines = Amounts.count(comparison.unreadable, "line")
            console.warn(
                "\(lines) \(comparison.unreadable == 1 ? "is" : "are") no row of a manifest, and \(comparison.unreadable == 1 ? "was" : "were") left out."
            )
        }
        let differs = comparison.counts.values.contains { $0 > 0 }
        return try console.print(
            json ? Self.json(comparison).text : text(comparison), last: arguments.isSet(exitCode) && differs ? .someFailed : .done)
    }

    private static func text(_ change: ManifestComparison.Change) -> String {
        let name = change.kind.rawValue
        let start = name + String(repeating: " ", count: max(0, 9 - name.count)) + change.url.escapedForDisplay
        let why =
            switch change.kind {
            case .changed: "\(Amounts.bytes(change.old?.bytes ?? 0)) before, \(Amounts.bytes(change.new?.bytes ?? 0)) now"
            case .failed: change.new?.error.map { ClassCounts.shown($0.class) } ?? ""
            case .mended: change.old?.error.map { "was \(ClassCounts.shown($0.class))" } ?? ""
            case .added, .removed: ""
            }
        return why.isEmpty ? start : "\(start)  (\(why))"
    }

    private static func text(_ comparison: ManifestComparison) -> String {
        let parts = ManifestComparison.Change.Kind.allCases.map { "\(comparison.counts[$0] ?? 0) \($0.rawValue)" }
        return (parts + ["\(comparison.same) as before"]).joined(separator: ", ")
    }

    private static func json(_ change: ManifestComparison.Change) -> JSONValue {
        func row(_ row: ManifestComparison.Row?) -> JSONValue {
            guard let row else { return nil }
            return [
                "outcome": .string(row.outcome), "sha256": JSONValue(row.sha256), "bytes": JSONValue(row.bytes),
                "httpStatus": JSONValue(row.httpStatus), "class": JSONValue(row.error?.class),
            ]
        }
        return [
            "schema": 1, "change": .string(change.kind.rawValue), "url": .string(change.url), "old": row(change.old),
            "new": row(change.new),
        ]
    }

    private static func json(_ comparison: ManifestComparison) -> JSONValue {
        let counts = ManifestComparison.Change.Kind.allCases.map {
            (key: $0.rawValue, value: JSONValue.integer(comparison.counts[$0] ?? 0))
        }
        let rest: [(key: String, value: JSONValue)] = [("same", .integer(comparison.same)), ("leftOut", .integer(comparison.unreadable))]
        return ["summary": .object(counts + rest)]
    }
}
