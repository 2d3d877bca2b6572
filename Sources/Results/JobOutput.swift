package import GannetHTTP
package import GannetQueue

/// Where the bodies of a worker's jobs go, and where the ends of its jobs are recorded. Readers of bodies ask a ``BodyFolder`` or Redis.
///
/// For a job whose URL was fetched for another job, the worker asks whether that body is ``held(_:for:)``. For every other job it asks
/// whether the body is ``found(_:)``; if not, it fetches the URL and hands the body to ``place(_:of:)``.
/// The worker calls ``note(_:_:of:)`` before it settles a job in Redis, so that every job that is done in Redis is recorded here.
/// An error stops the worker, and the job is handed back: a ``StorageFailure`` or a ``StateError``.
package protocol JobOutput: Sendable {
    /// How the engine hands bodies over.
    var bodyDestination: BodyDestination { get }

    /// How many jobs may wait for the output at once; `nil` for the worker's own bound. Waiting bodies are lost with the process, so an
    /// output that works long on each body sets it.
    var mostWaiting: Int? { get }

    /// Whether the output records the ends of jobs. Without that, no record of an end is made.
    var notesEnds: Bool { get }

    /// Gets the exchanges of one attempt at a job, for an output that stores these, or a job that keeps them; `nil` for all others.
    func wireRecord(for job: Job) -> WireRecord?

    /// The body of a job, if it is there before the origin is asked; `nil` if the URL has to be fetched.
    func found(_ job: Job) async throws -> HeldBody?

    /// The body of an earlier outcome, if it is in this job's place; `nil` if the URL has to be fetched again.
    func held(_ outcome: URLOutcome, for job: Job) async throws -> HeldBody?

    /// The body that an earlier run has put into this job's place, if its origin can be asked whether it has changed.
    func earlier(_ job: Job) async throws -> JobRecord?

    /// Stores a body. A temporary file is moved or removed, also when an error is thrown.
    /// - Parameter digest: That of the body. It was computed before, because that takes long.
    func place(_ download: Download, digest: SHA256Digest, of job: Job) async throws -> Placement

    /// Keeps the exchanges of a job's last attempt, and returns where; `nil` where it keeps none.
    /// - Parameter body: The digest of the body that was stored; `nil` for a job that failed.
    func keep(_ wire: WireRecord, body: SHA256Digest?, of job: Job) async throws -> ExchangesPlace?

    /// Calls `tell` whenever bodies begin to wait for room, and when they wait no more.
    func watchRoom(_ tell: @escaping @Sendable (StoreRoom) -> Void)

    /// Records how a job ends. A job that comes back, because Redis did not hear of its end, is recorded again.
    /// - Parameter wire: The exchanges of the last attempt, for an output that has asked for them.
    func note(_ end: JobRecord, _ wire: WireRecord?, of job: Job) async throws
}

extension JobOutput {
    package var mostWaiting: Int? { nil }

    package var notesEnds: Bool { true }

    package func wireRecord(for job: Job) -> WireRecord? { nil }

    package func earlier(_ job: Job) async throws -> JobRecord? { nil }

    package func keep(_ wire: WireRecord, body: SHA256Digest?, of job: Job) async throws -> ExchangesPlace? { nil }

    package func watchRoom(_ tell: @escaping @Sendable (StoreRoom) -> Void) {}
}

/// An output around another one, which does all that it does not do itself.
package protocol OutputAround: JobOutput {
    var output: any JobOutput { get }
}

extension OutputAround {
    package var bodyDestination: BodyDestination { output.bodyDestination }
    package var mostWaiting: Int? { output.mostWaiting }
    package var notesEnds: Bool { output.notesEnds }
    package func wireRecord(for job: Job) -> WireRecord? { output.wireRecord(for: job) }
    package func found(_ job: Job) async throws -> HeldBody? { try await output.found(job) }
    package func held(_ outcome: URLOutcome, for job: Job) async throws -> HeldBody? { try await output.held(outcome, for: job) }
    package func earlier(_ job: Job) async throws -> JobRecord? { try await output.earlier(job) }
    package func keep(_ wire: WireRecord, body: SHA256Digest?, of job: Job) async throws -> ExchangesPlace? {
        try await output.keep(wire, body: body, of: job)
    }
    package func watchRoom(_ tell: @escaping @Sendable (StoreRoom) -> Void) { output.watchRoom(tell) }
}

/// Whether a store takes more bodies.
package enum StoreRoom: Sendable, Equatable {
    case there
    /// Bodies wait, because the store has reached its limit with bodies that are in use.
    case limitReached
    /// Bodies wait, because the store has reached its limit with those of batches that nobody has exported.
    case held([HoldingBatch])
    /// Bodies wait, because this server of Redis is full.
    case full(server: String)

    package var isHeld: Bool {
        if case .held = self { true } else { false }
    }
}

package enum Placement: Sendable {
    case held(HeldBody)
    /// This body cannot be stored, for example because it is too large. Other bodies can.
    case refused(FetchError)
    /// The body was fetched, and this output has no use for it: the job fails, and the URL does not.
    case unfit(errorClass: String, sentence: String)
}

/// A body that is in its place.
package struct HeldBody: Sendable, Equatable {
    /// The path within the folder, and in an archive the place behind it; `nil` if bodies are not files. An outcome keeps this text, and
    /// ``BodyPlace`` tells from it which store has the body.
    package let file: String?
    /// The picture that is stored in place of the body.
    package let picture: StoredPicture?
    /// The clause about a body that is not what its type says; nil where nothing contradicts the type.
    package let typeMismatch: String?

    package init(file: String?, picture: StoredPicture? = nil, typeMismatch: String? = nil) {
        self.file = file
        self.picture = picture
        self.typeMismatch = typeMismatch
    }
}
