/// The outcome of looking up a name: addresses to try in this order, at least one and at most 16, or why there are none.
typealias Resolution = Result<[IPAddress], ResolveFailure>
