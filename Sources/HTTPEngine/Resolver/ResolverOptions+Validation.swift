extension ResolverOptions {
    /// The servers, checked along with everything else.
    func validatedServers() throws(InvalidOptions) -> [NameServer] {
        guard timeout >= .milliseconds(50), timeout <= .seconds(300) else {
            throw InvalidOptions("The time for a look-up must be from 50 milliseconds to 5 minutes.")
        }
        guard freshness >= .milliseconds(1), freshness <= timeout else {
            throw InvalidOptions("A look-up must be fresh for at least 1 millisecond and no longer than it may take.")
        }
        guard (1...30_000).contains(maximumOutstanding), (1...maximumOutstanding).contains(maximumFresh) else {
            throw InvalidOptions("The look-ups under way must be from 1 to 30000, and the fresh ones no more than that.")
        }
        guard (1...10_000_000).contains(maximumCached) else {
            throw InvalidOptions("The names to remember must be from 1 to 10000000.")
        }
        guard servers.count <= 8 else { throw InvalidOptions("There may be no more than 8 name servers.") }
        return try servers.map { text throws(InvalidOptions) in
            guard let server = NameServer(text) else {
                throw InvalidOptions(
                    "'\(text.escapedForDisplay)' is not a name server: write ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT.")
            }
            return server
        }
    }
}
