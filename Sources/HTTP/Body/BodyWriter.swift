/// Takes a body as it arrives: into memory, into a file, or first the one and then the other.
struct BodyWriter {
    private let destination: BodyDestination
    private let hasher: SHA256Hasher
    private let buffers: BodyBuffers
    /// Has the bytes in place of `bytes`, for readers who do not wait for the end.
    private let growing: GrowingBody?
    /// Stands for the bytes in memory.
    private let claim: BodyClaim?
    private var bytes: [UInt8] = []
    /// Created for the first byte that goes to it, or at the end of an empty body: a failed request costs the disk nothing.
    private var file: BodyFile?

    /// - Parameter expected: The announced length of the body, if there is one. Memory for it is reserved, up to `BodyBuffers.largest`.
    init(
        _ destination: BodyDestination, hasher: SHA256Hasher, buffers: BodyBuffers, growing: GrowingBody? = nil, claim: BodyClaim? = nil,
        expected: Int? = nil
    ) {
        self.destination = destination
        self.hasher = hasher
        self.buffers = buffers
        self.growing = growing
        self.claim = claim
        if let expected, let most = destination.mostInMemory, (0...most).contains(expected) {
            bytes = buffers.take(min(expected, BodyBuffers.largest))
        }
    }

    mutating func write(_ new: UnsafeRawBufferPointer) throws(StorageFailure) {
        if let growing {
            try makeRoom(for: new.count)
            growing.append(new)
            return
        }
        if file == nil, let most = destination.mostInMemory {
            if bytes.count + new.count <= most {
                try makeRoom(for: new.count)
                bytes.append(contentsOf: new)
                return
            }
            try openFile().write(bytes)
            bytes.withUnsafeBytes { hasher.update($0) }
            bytes = []
        }
        try openFile().write(new)
        hasher.update(new)
    }

    /// The whole body, now the caller's.
    mutating func finish() throws(StorageFailure) -> DownloadedBody {
        if let growing { return .bytes(growing.finish()) }
        if file == nil, destination.mostInMemory != nil {
            buffers.keep(bytes)
            return .bytes(bytes)
        }
        let path = try openFile().keep()
        return .file(path, hasher.finish())
    }

    private func makeRoom(for count: Int) throws(StorageFailure) {
        if let claim, !claim.grow(by: count) { throw StorageFailure(.noMemory) }
    }

    private mutating func openFile() throws(StorageFailure) -> BodyFile {
        if let file { return file }
        let new =
            switch destination {
            case .file(let folder, _): try BodyFile(in: folder, .ordinary)
            case .memory(_, let folder): try BodyFile(in: folder)
            }
        hasher.reset()
        file = new
        return new
    }
}

extension BodyDestination {
    /// The longest body that stays in memory; nil where each body is a file.
    fileprivate var mostInMemory: Int? {
        switch self {
        case .file(_, let most): most > 0 ? most : nil
        case .memory(let most, _): most
        }
    }
}
