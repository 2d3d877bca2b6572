/// Whom an outcome is for, besides the one whose fetch it was.
package enum Audience: Sendable, Hashable, CaseIterable {
    /// All who wait for its URL.
    case allWaiting
    /// Of them those alone who sent the same headers.
    case sameRequest
    /// Of them those alone who wait on this machine, which is at fault.
    case sameMachine
    case nobody
}
