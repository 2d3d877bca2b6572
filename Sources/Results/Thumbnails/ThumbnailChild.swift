internal import GannetBase
internal import GannetPictures

/// A running `gannet-thumbnail`. One caller at a time uses it, on a thread that may wait.
final class ThumbnailChild: Sendable {
    /// How the work on a picture ended, and whether the child can take another one.
    typealias Outcome = (result: Result<Thumbnail, ThumbnailFailure>, survived: Bool)

    let pid: pid_t
    private let input: Int32
    private let output: Int32
    private let bounds: ThumbnailBounds

    /// Returns when the child has given up its rights and waits for a picture.
    static func start(_ program: ThumbnailProgram, _ bounds: ThumbnailBounds) throws(ThumbnailFailure) -> ThumbnailChild {
        let child = try ThumbnailChild(try program.find(), bounds)
        let deadline = ContinuousClock.now + bounds.start
        let answer = child.receive(until: deadline)
        if case (.ready, _)? = answer { return child }
        child.end()
        if case (.refused(let refusal), let bytes)? = answer { throw ThumbnailFailure(refusal: refusal, sentence(bytes)) }
        throw ContinuousClock.now >= deadline
            ? ThumbnailFailure(
                .unfit,
                "gannet-thumbnail did not start within \(bounds.start.components.seconds) seconds. It must be of the same version as gannet."
            )
            : ThumbnailFailure(
                .unfit, "gannet-thumbnail does not answer as it should: install it and gannet from one build, on a kernel with seccomp.")
    }

    private init(_ path: String, _ bounds: ThumbnailBounds) throws(ThumbnailFailure) {
        let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
        let pipes = (Descriptor.pipe(), Descriptor.pipe())
        guard null >= 0, let requests = pipes.0, let answers = pipes.1 else {
            let opened = [null] + [pipes.0, pipes.1].compactMap { $0 }.flatMap { [$0.read, $0.write] }
            for one in opened where one >= 0 { close(one) }
            throw ThumbnailFailure(.busy, "This process has no file descriptor left for gannet-thumbnail.")
        }
        let spawn = Spawn(
            path, words: [ThumbnailProgram.name] + bounds.words, environment: [:], descriptors: [requests.read, answers.write, null],
            group: .own)
        let pid = spawn.start()
        for one in [null, requests.read, answers.write] { close(one) }
        guard pid > 0 else {
            for one in [requests.write, answers.read] { close(one) }
            throw ThumbnailFailure(.unfit, "\(path) cannot be started: \(Descriptor.message(-pid)).")
        }
        for one in [requests.write, answers.read] { Descriptor.setFlags(of: one) }
        (self.pid, input, output, self.bounds) = (pid, requests.write, answers.read, bounds)
    }

    /// Ends the process. Nothing else may be asked of the child afterwards.
    func end() {
        for one in [input, output] { close(one) }
        kill(pid, SIGKILL)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    }

    /// False when the process has ended without work, as where the system needed its memory.
    var isAlive: Bool {
        var one = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        // A child at rest writes nothing, so that an event is its end.
        return poll(&one, 1, 0) == 0
    }

    func make(_ request: ThumbnailRequest, of picture: [UInt8]) -> Outcome {
        let deadline = ContinuousClock.now + bounds.time
        guard send(request.head(count: picture.count)[...], until: deadline), send(picture[...], until: deadline),
            let (answer, bytes) = receive(until: deadline)
        else { return died(deadline) }
        switch answer {
        case .ready: return taken()
        case .refused(let refusal):
            return (result: .failure(ThumbnailFailure(refusal: refusal, Self.sentence(bytes))), survived: true)
        case .thumbnail(let format, let size, let original):
            let isFormat = request.format == .plain ? [.jpeg, .png].contains(format) : request.format == format
            guard isFormat, request.refusal(of: original) == nil, request.layout(of: original).made == size,
                Self.isPicture(bytes, format, size)
            else { return taken() }
            return (result: .success(Thumbnail(format: format, size: size, original: original, bytes: bytes)), survived: true)
        }
    }

    /// For people's eyes and terminals. A process that a picture has taken over may write anything.
    private static func sentence(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.prefix(500).map { 0x20...0x7e ~= $0 ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }

    /// A process that a picture has taken over may write anything. It must not be a page under the name of a picture.
    private static func isPicture(_ bytes: [UInt8], _ format: ThumbnailFormat, _ size: PictureSize) -> Bool {
        let limits = ImageLimits(pixels: Int.max, side: format.longestSide)
        guard let info = try? ImageProbe(limits: limits).examine(bytes) else { return false }
        return info.format == ImageFormat(mediaType: format.mediaType) && info.size == ImageSize(width: size.width, height: size.height)
    }

    /// The child has answered something else than a thumbnail of this request.
    private func taken() -> Outcome {
        (result: .failure(ThumbnailFailure(.crashed, "The picture has damaged the program that decodes it.")), survived: false)
    }

    private func died(_ deadline: ContinuousClock.Instant) -> Outcome {
        let isLate = ContinuousClock.now >= deadline
        // The bound for processor time ends the process by a signal.
        let hasComputedTooLong = !isLate && [SIGPROF, SIGXCPU].contains(exitSignal())
        let failure =
            isLate || hasComputedTooLong
            ? ThumbnailFailure(.tooSlow, "The picture takes longer to decode than it may.")
            : ThumbnailFailure(.crashed, "The picture ended the program that decodes it.")
        return (result: .failure(failure), survived: false)
    }

    /// The signal that ended the process, which stays to be collected by `end()`; 0 for none.
    private func exitSignal() -> Int32 {
        // Its pipes close a moment before its end can be seen. A process that has its end behind it dies no second time, and another one
        // dies now.
        kill(pid, SIGKILL)
        var information = siginfo_t()
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) != 0 { if errno != EINTR { return 0 } }
        guard [Int(CLD_KILLED), Int(CLD_DUMPED)].contains(Int(information.si_code)) else { return 0 }
        return information._sifields._sigchld.si_status
    }

    private func send(_ bytes: ArraySlice<UInt8>, until deadline: ContinuousClock.Instant) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count < 0, errno == EAGAIN {
                guard wait(for: POLLOUT, on: input, until: deadline) else { return false }
            } else if count == 0 || errno != EINTR {
                return false
            }
        }
        return true
    }

    private func receive(until deadline: ContinuousClock.Instant) -> (ThumbnailAnswer, [UInt8])? {
        guard let head = receive(ThumbnailAnswer.headBytes, until: deadline), let (answer, count) = ThumbnailAnswer.read(head),
            let bytes = receive(count, until: deadline)
        else { return nil }
        return (answer, bytes)
    }

    private func receive(_ count: Int, until deadline: ContinuousClock.Instant) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let got = bytes.withUnsafeMutableBytes { read(output, $0.baseAddress! + done, count - done) }
            if got > 0 {
                done += got
            } else if got < 0, errno == EAGAIN {
                guard wait(for: POLLIN, on: output, until: deadline) else { return nil }
            } else if got == 0 || errno != EINTR {
                return nil
            }
        }
        return bytes
    }

    private func wait(for event: Int32, on descriptor: Int32, until deadline: ContinuousClock.Instant) -> Bool {
        let left = deadline - .now
        guard left > .zero else { return false }
        return Descriptor.wait(for: Int16(event), on: descriptor, milliseconds: Int32(clamping: left.milliseconds)) || deadline > .now
    }
}
