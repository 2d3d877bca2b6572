import GannetBase

/// A supervisor's message to the command that started it, sent once, as one line through the pipe at descriptor 3.
enum SupervisorReport: Sendable, Equatable {
    /// The server answers; it may still be loading its data.
    case running
    case failed(CommandFailure)

    static let descriptor: Int32 = 3

    /// A supervisor that someone starts by hand has another kind of descriptor there, or none.
    func send() {
        var found = stat()
        guard fstat(Self.descriptor, &found) == 0, found.st_mode & S_IFMT == S_IFIFO else { return }
        switch self {
        case .running: _ = Descriptor.writeAll("running\n", to: Self.descriptor)
        case .failed(let failure):
            _ = Descriptor.writeAll("failed \(failure.status.rawValue) \(failure.message ?? "")\n", to: Self.descriptor)
        }
        close(Self.descriptor)
    }

    /// Reads until the supervisor has reported or is gone.
    static func receive(from descriptor: Int32, within bound: Duration) -> SupervisorReport {
        let end = ContinuousClock.now + bound
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while !bytes.contains(0x0A) {
            let left = (end - .now).components.seconds
            guard left >= 0, bytes.count < 65_536,
                Descriptor.wait(for: Int16(POLLIN), on: descriptor, milliseconds: Int32(left + 1) * 1000)
            else {
                let sentence = "The private Redis did not start within \(bound.components.seconds) seconds."
                return .failed(CommandFailure(.unavailable, sentence))
            }
            let count = read(descriptor, &buffer, buffer.count)
            if count > 0 { bytes += buffer[..<count] } else if count == 0 || errno != EINTR { break }
        }
        return Self(String(decoding: bytes, as: UTF8.self))
    }

    init(_ line: String) {
        let parts = line.split(separator: "\n").first?.split(separator: " ", maxSplits: 2).map(String.init) ?? []
        switch (parts.first, parts.count) {
        case ("running", 1): self = .running
        case ("failed", 3):
            let status = Int32(parts[1]).flatMap(ExitStatus.init) ?? .defect
            self = .failed(CommandFailure(status, parts[2]))
        default: self = .failed(CommandFailure(.unavailable, "The supervisor of the private Redis ended before it had started one."))
        }
    }
}
