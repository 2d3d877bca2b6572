/// A descriptor of the resolver's: what it waits for, or what it is ready for.
struct ResolverDescriptor: Hashable {
    let number: Int32
    var reads: Bool
    var writes: Bool
}
