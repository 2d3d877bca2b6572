/// The store that has the body of an outcome, as the worker that stored it has noted.
package enum BodyPlace: Sendable, Equatable {
    case redis
    /// The path within the workers' folder. Redis names it, so it is not trusted to lie within that folder.
    case file(String)
}

extension OutcomeContent {
    package var place: BodyPlace { fields[.file].map { .file($0) } ?? .redis }
}
