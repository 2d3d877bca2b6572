import Foundation
import GannetTestKit

@testable import GannetQueue

/// A fault that is planted in the scripts on purpose, to see that a method finds it. `Tests/Proof/faults.json` has them all.
struct PlantedFault: Decodable, Sendable {
    struct Change: Decodable, Sendable {
        let from: [String]
        let to: [String]
    }

    let name: String
    let changes: [Change]
    /// False where the simulation has no rule that the fault breaks.
    let simulation: Bool?

    static func found() throws -> [PlantedFault] {
        try JSONDecoder().decode([PlantedFault].self, from: Data(contentsOf: Repository.url("Tests/Proof/faults.json"))).filter {
            $0.simulation ?? true
        }
    }

    /// The scripts with the fault in them. Throws unless each change is found in one of them.
    func scripts() throws -> ClusterScripts {
        var found = 0
        let scripts = ClusterScripts(partBytes: ClusterScripts.standard.partBytes) { text in
            changes.reduce(text) { text, change in
                let old = Self.text(change.from)
                found += text.contains(old) ? 1 : 0
                return text.replacing(old, with: Self.text(change.to))
            }
        }
        try Violation.require(found >= changes.count, "the scripts have not what '\(name)' replaces")
        return scripts
    }

    /// Scripts have no indents in Redis.
    private static func text(_ lines: [String]) -> String { lines.map { String($0.drop { $0 == " " }) }.joined(separator: "\n") }
}
