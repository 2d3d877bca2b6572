extension SeedRace.Failures {
    /// Further addresses are only counted.
    private static let mostNamed = 4

    /// One error for all servers. An error that lasts, such as a refused password, outranks the others: an operator has to mend it.
    func error(of addresses: [RedisAddress]) -> RedisError {
        guard let first = errors.first, errors.count == addresses.count, errors.count > 1 else {
            return errors.first ?? RedisError(.cancelled)
        }
        if let lasting = errors.first(where: { !$0.isTransient }) { return lasting }
        var error = first
        error.server = Self.names(of: addresses)
        if !errors.allSatisfy({ ($0.kind, $0.detail) == (first.kind, first.detail) }) {
            let details = zip(addresses, errors).prefix(Self.mostNamed).map { address, error in
                address.host + ": " + (error.detail.isEmpty ? "no answer" : error.detail)
            }
            error = RedisError(.unreachable, details.joined(separator: "; "), server: error.server)
        }
        return error
    }

    /// `redis://a:6379,b:6379 and 5 more`
    private static func names(of addresses: [RedisAddress]) -> String {
        guard let first = addresses.first else { return "" }
        let rest = addresses.count - mostNamed
        let others = addresses.dropFirst().prefix(mostNamed - 1).map(\.host)
        return ([first.description] + others).joined(separator: ",") + (rest > 0 ? " and \(rest) more" : "")
    }
}

extension RedisAddress {
    /// The address without its scheme.
    fileprivate var host: String {
        let text = description
        return text.firstRange(of: "://").map { String(text[$0.upperBound...]) } ?? text
    }
}
