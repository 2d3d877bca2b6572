/// Whether a job's request may go on at the host that a redirect has led it to.
package enum Passage: Sendable, Equatable {
    /// It has its place there, and none any more where it was.
    case there
    /// That host has no room; the place it has is kept. With the time until there may be one, where that is known.
    case full(opensIn: Duration?)
    /// That host has taken no connection for so long that nobody waits for it.
    case hopeless
    /// The lease has ended, and the place with it.
    case lost
}
