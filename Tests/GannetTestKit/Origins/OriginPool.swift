/// Started origins that tests use one after the other, because a start of nginx takes longer than many tests.
///
/// An origin comes back without an account of the requests before. Origins with directives or certificates do not come back: few tests want the
/// same. Neither do origins that were stopped, or whose files were changed.
package actor OriginPool {
    /// The pool of all tests of the process.
    package static let shared = OriginPool()

    private var origins: [Origin.Options: [Origin]] = [:]

    package init() {}

    /// An origin that nobody else uses.
    package func take(_ options: Origin.Options) async throws -> Origin {
        if let origin = origins[options]?.popLast(), (try? await origin.renew()) != nil { return origin }
        return try await Origin.start(options)
    }

    package func giveBack(_ origin: Origin) {
        let options = origin.options
        let isUsual = options.directives.isEmpty && options.httpDirectives.isEmpty && options.certificate == nil && !options.isFast
        if isUsual, origin.isAsNew { origins[options, default: []].append(origin) }
    }
}
