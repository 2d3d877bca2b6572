import GannetTestKit
import Testing

@testable import GannetHTTP

/// A behaviour of an origin, and the outcome that the engine must reach.
struct EvilRow: Sendable, CustomTestStringConvertible {
    let behaviour: EvilBehaviour
    /// Any of these is right.
    let expected: [EvilOutcome]
    /// The part that the engine does not do yet.
    let defect: Defect?
    /// Why the next fetch from the same host may fail.
    let aftermath: Defect?
    /// Whether the connection may outlive the fetch: under HTTP/2 only the stream has failed.
    let isStream: Bool

    /// A sentence that says what is wrong.
    enum Defect {
        case always(String)
        case sometimes(String)
    }

    init(_ behaviour: EvilBehaviour, _ expected: EvilOutcome..., defect: Defect? = nil, aftermath: Defect? = nil, isStream: Bool = false) {
        self.behaviour = behaviour
        self.expected = expected
        self.defect = defect
        self.aftermath = aftermath
        self.isStream = isStream
    }

    /// The engine's patience ends the fetch, or may do so.
    var mayTimeOut: Bool {
        defect != nil || aftermath != nil
            || expected.contains {
                switch $0 {
                case .fails(.timeout), .fails(.tooSlow): true
                default: false
                }
            }
    }

    var testDescription: String { "\(behaviour)" }
}

extension EvilRow {
    static let all = silent + floods + lengths + chunks + statusLines + headers + redirects + encodings + connections + secured

    /// Behaviours that the engine does not survive yet. Each has a test in `EvilProcessTests` and is in no table.
    static let fatal: Set<EvilBehaviour> = [.foldedFirstHeader, .http2EmptyData]
}

extension EvilRow.Defect? {
    /// Runs the checks, which are known to fail when there is a defect.
    func run(_ checks: () async throws -> Void) async throws {
        switch self {
        case nil: try await checks()
        case .always(let sentence): await withKnownIssue(Comment(rawValue: sentence)) { try await checks() }
        case .sometimes(let sentence):
            await withKnownIssue(Comment(rawValue: sentence), isIntermittent: true) { try await checks() }
        }
    }
}
