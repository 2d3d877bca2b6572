import Testing

@testable import GannetHTTP

@Suite struct FreshnessPolicyTests {
    @Test func `the defaults can be meant`() throws {
        try FreshnessPolicy().validate()
    }

    @Test(
        arguments: [
            { $0.heuristicFraction = -0.1 }, { $0.heuristicFraction = 1.1 }, { $0.heuristicFraction = .nan },
            { $0.heuristicMaximum = .seconds(-1) }, { $0.heuristicMinimum = .seconds(-1) }, { $0.heuristicMinimum = .seconds(86_401) },
            { $0.heuristicForImages = .seconds(-1) }, { $0.heuristicForImages = .seconds(3651 * 86_400) },
            { $0.minimumLifetime = .seconds(-1) }, { $0.maximumLifetime = .seconds(3651 * 86_400) },
            {
                $0.minimumLifetime = .seconds(61)
                $0.maximumLifetime = .seconds(60)
            }, { $0.staleIfError = .seconds(-1) }, { $0.maximumStaleness = .seconds(-1) }, { $0.earlyRefreshFactor = -1 },
            { $0.earlyRefreshFactor = .infinity }, { $0.clockTolerance = .seconds(3601) }, { $0.failures.missing = .seconds(-1) },
            { $0.failures.denied = .seconds(86_401) }, { $0.failures.noSuchHost = .seconds(-1) }, { $0.failures.tls = .seconds(-1) },
            { $0.failures.refusedAddress = .seconds(-1) }, { $0.failures.unusable = .seconds(-1) },
            { $0.failures.unreachable = .seconds(-1) },
            { $0.failures.failing = .seconds(-1) }, { $0.failures.throttled = .seconds(-1) }, { $0.failures.maximum = .seconds(86_401) },
        ] as [@Sendable (inout FreshnessPolicy) -> Void])
    func `values that cannot be meant are refused with a sentence`(change: @Sendable (inout FreshnessPolicy) -> Void) {
        var policy = FreshnessPolicy()
        change(&policy)
        let error = #expect(throws: InvalidOptions.self) { try policy.validate() }
        #expect(error?.description.hasSuffix(".") == true)
    }

    @Test(
        arguments: [
            { $0.heuristicFraction = 0 }, { $0.heuristicFraction = 1 }, { $0.earlyRefreshFactor = 0 }, { $0.earlyRefreshFactor = 100 },
            {
                $0.minimumLifetime = .seconds(60)
                $0.maximumLifetime = .seconds(60)
            }, { $0.failures.maximum = .zero }, { $0.maximumLifetime = .seconds(3650 * 86_400) },
        ] as [@Sendable (inout FreshnessPolicy) -> Void])
    func `the ends of what can be meant are taken`(change: @Sendable (inout FreshnessPolicy) -> Void) throws {
        var policy = FreshnessPolicy()
        change(&policy)
        try policy.validate()
    }
}
