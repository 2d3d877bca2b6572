/// What a run's rows came to: each row is one of these.
package struct ManifestTotals: Sendable, Equatable {
    /// By this run.
    package var fetched = 0
    /// There already: an earlier run brought them.
    package var there = 0
    /// Rows whose URL an earlier row has.
    package var repeated = 0
    package var failed = 0
    /// Failed rows by the class of their reasons: some hundred classes at most.
    package private(set) var classes: [String: Int] = [:]
    package var invalid = 0
    /// Of the bodies fetched by this run.
    package var bytes = 0

    package var rows: Int { fetched + there + repeated + failed + invalid }

    private static let mostClasses = 200

    package init() {}

    package mutating func noteFailure(_ errorClass: String) {
        failed += 1
        if classes[errorClass] == nil, classes.count >= Self.mostClasses { return }
        classes[errorClass, default: 0] += 1
    }
}
