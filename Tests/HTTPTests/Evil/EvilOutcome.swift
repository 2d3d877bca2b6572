@testable import GannetHTTP

/// The outcome of a fetch, in the words of the tables.
enum EvilOutcome: Hashable, Sendable {
    case gives(String)
    /// A body that another test checks.
    case givesSomething
    case fails(FetchError.Kind)
}

extension EvilOutcome {
    func isOne(of expected: [EvilOutcome]) -> Bool {
        if case .gives = self, expected.contains(.givesSomething) { return true }
        return expected.contains(self)
    }
}

extension EvilOutcome: CustomStringConvertible {
    var description: String {
        switch self {
        case .gives(let body): "gives \(String(reflecting: String(body.prefix(200))))"
        case .givesSomething: "gives something"
        case .fails(.timeout(let phase)): "fails as timeout in \(phase)"
        case .fails(let kind): "fails as \(kind)"
        }
    }
}
