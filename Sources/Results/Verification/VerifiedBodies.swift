internal import GannetBase
package import GannetHTTP
package import GannetQueue

/// An output whose bodies must be what the list or their origin says. Another body is not stored, and its row fails.
package final class VerifiedBodies: Sendable {
    package let output: any JobOutput
    /// Nil where the list names no digests.
    private let expected: ExpectedDigests?
    private let refusesFalsePictures: Bool

    /// - Parameter refusesFalsePictures: Whether a body is refused that was served as a picture and is none, such as an error page.
    package init(_ output: any JobOutput, _ expected: ExpectedDigests?, refusesFalsePictures: Bool) {
        self.output = output
        self.expected = expected
        self.refusesFalsePictures = refusesFalsePictures
    }

    package static let errorClass = "digest-mismatch"
}

/// The digests of the jobs that a run has under way, as its list names them, and those of their bodies. Each takes some 100 bytes.
package final class ExpectedDigests: Sendable {
    package enum Algorithm: String, Sendable, CaseIterable {
        case sha256
        case md5

        /// In a column: two for a byte.
        package var digits: Int { self == .sha256 ? 64 : 32 }
    }

    package let algorithm: Algorithm
    fileprivate let digests = Mutex<[URLID: [UInt8]]>([:])
    /// Of bodies that are stored and not recorded yet. The record has the SHA-256 of each body anyway.
    fileprivate let md5s = Mutex<[URLID: [UInt8]]>([:])

    package init(_ algorithm: Algorithm) { self.algorithm = algorithm }

    /// - Parameter digest: Empty for text of the list that is no digest: then no body fits.
    package func expect(_ digest: [UInt8], of id: URLID) { digests.withLock { $0[id] = digest } }

    fileprivate subscript(id: URLID) -> [UInt8]? { digests.withLock { $0[id] } }
}

extension VerifiedBodies: OutputAround {
    /// A body that has to have a digest is fetched: the file may be a picture that was made of it.
    package func earlier(_ job: Job) async throws -> JobRecord? { expected?[job.id] == nil ? try await output.earlier(job) : nil }

    package func place(_ download: Download, digest: SHA256Digest, of job: Job) async throws -> Placement {
        let refusal: Placement?
        do {
            refusal = try otherDigest(download, digest, of: job) ?? falsePicture(download)
        } catch {
            download.body.discard()
            throw error
        }
        guard let refusal else { return try await output.place(download, digest: digest, of: job) }
        download.body.discard()
        return refusal
    }

    private func otherDigest(_ download: Download, _ digest: SHA256Digest, of job: Job) throws -> Placement? {
        guard let expected else { return nil }
        let found: [UInt8]
        switch expected.algorithm {
        case .sha256: found = digest.bytes
        case .md5:
            guard let digest = MD5.digest(of: download.body) else {
                throw StorageFailure("The MD5 of a body cannot be computed: libcrypto refuses it, or the body's file cannot be read.")
            }
            found = digest
            // Also of a body that this row does not compare: another row may.
            expected.md5s.withLock { $0[job.id] = digest }
        }
        guard let wanted = expected[job.id], wanted != found else { return nil }
        let name = expected.algorithm.rawValue
        return .unfit(
            errorClass: Self.errorClass,
            sentence: wanted.isEmpty
                ? "The list names no \(name) of \(expected.algorithm.digits) hexadecimal digits for it."
                : "Its \(name) is \(found.hexadecimal), and the list says \(wanted.hexadecimal).")
    }

    private func falsePicture(_ download: Download) throws -> Placement? {
        guard refusesFalsePictures, let type = download.contentType, BodyKind.isPicture(servedAs: type) else { return nil }
        guard let kind = BodyKind(of: download.body, servedAs: type) else {
            throw StorageFailure("The file of a body cannot be read: \(Descriptor.message(errno)).")
        }
        return kind.falsePicture.map { clause in
            .unfit(
                errorClass: ThumbnailFailure.Kind.notPicture.rawValue, sentence: "It was served as \(kind.servedType), and \(clause).")
        }
    }

    package func note(_ end: JobRecord, _ wire: WireRecord?, of job: Job) async throws {
        var end = end
        let md5 = expected?.md5s.withLock { $0.removeValue(forKey: job.id) }
        if end.outcome == .fetched { end.md5 = md5 }
        try await output.note(end, wire, of: job)
        expected?.digests.withLock { $0[job.id] = nil }
    }
}
