/// The bodies that Redis keeps, of the whole namespace.
package struct BodyCacheFigures: Sendable, Equatable {
    /// Bytes of Redis' memory.
    package let memory: Int
    /// Those that made room for others.
    package let evicted: Int
}
