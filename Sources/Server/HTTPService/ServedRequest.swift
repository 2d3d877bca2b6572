internal import CMicrohttpd
internal import GannetBase

/// A request between a thread of libmicrohttpd, which reads it and sends its answer, and the task that makes the answer.
final class ServedRequest: Sendable {
    private struct State {
        var answer: HTTPServiceAnswer?
        /// The task that makes the answer, then the one that writes the answer's stream.
        var task: Task<Void, Never>?
        var stream: AnswerStream?
        /// Until when the task has to answer, and the answer in its place.
        var deadline: (time: ContinuousClock.Instant, answer: HTTPServiceAnswer)?
        /// Of a body that is being read.
        var pace: BodyPace?
        /// Since when the end of an endless answer is waited for.
        var endingSince: ContinuousClock.Instant?
        /// libmicrohttpd has an answer to send.
        var isQueued = false
        /// The connection was ended without libmicrohttpd.
        var isCut = false
        var isOver = false
        /// Called when the request is completed.
        var atEnd: [@Sendable () -> Void] = []
        var isCompleted = false
    }

    /// A connection that waits for a task takes no thread: libmicrohttpd asks nothing of it until a task wakes it.
    private struct Sleep {
        /// A task has woken the connection since libmicrohttpd asked. Then the connection does not fall asleep.
        var isWoken = false
        var isAsleep = false
        /// The connection serves another request, or is gone.
        var isOver = false
    }

    private let target: String
    /// Where libmicrohttpd keeps the target. It is there as long as the request.
    private let place: (start: UInt, count: Int)
    private let client: Client
    /// Used on the connection's thread, and elsewhere under the lock of `sleep` until that is over.
    nonisolated(unsafe) private let connection: OpaquePointer
    private let body = RequestBody(isOpen: true)
    private let state = Mutex(State())
    private let sleep = Mutex(Sleep())
    private let isBegun = SharedFlag()
    /// libmicrohttpd asks about a head again when its connection was put to sleep meanwhile.
    private let isHeadAskedAgain = SharedFlag()
    private let isBodyEnded = SharedFlag()
    private let isAnswered = SharedFlag()
    /// The body came in chunks. libmicrohttpd reads some of these in another way than a proxy may, so nothing behind them is a request.
    private let isChunked = SharedFlag()

    init(_ target: UnsafePointer<CChar>, _ connection: OpaquePointer, of client: Client) {
        self.target = String(cString: target)
        place = (UInt(bitPattern: target), strlen(target))
        self.client = client
        self.connection = connection
        body.whenRead { [weak self] in self?.wake() }
    }

    private var core: ServiceCore { client.thread.core }

    /// libmicrohttpd has read the head, then each piece of the body, then all of it. It asks again after each wake-up.
    /// - Parameter piece: Its count is set to zero when it was taken.
    func read(
        _ method: UnsafePointer<CChar>, _ version: UnsafePointer<CChar>, _ piece: UnsafeRawBufferPointer, _ left: inout Int
    ) -> MHD_Result {
        isAsked()
        if !isBegun.isSet {
            isBegun.set()
            return begin(method, version)
        }
        if isHeadAskedAgain.take() { return .YES }
        if !piece.isEmpty {
            guard state.withLock({ $0.pace?.came(at: .now) ?? true }) else {
                cut()
                return .NO
            }
            if state.withLock({ $0.answer != nil }) || body.offer(piece) {
                // The rest of a body that nobody reads any more is passed over, so that its client hears the answer.
                left = 0
                state.withLock { $0.pace?.took(piece.count, at: .now) }
                readAgain()
            } else {
                fallAsleep()
            }
            return .YES
        }
        if !isBodyEnded.isSet {
            isBodyEnded.set()
            state.withLock { $0.pace = nil }
            body.end(.success(()))
        }
        let (answer, isOver) = state.withLock { ($0.answer, $0.isOver) }
        if isOver { return .NO }
        guard let answer else {
            fallAsleep()
            return .YES
        }
        return queue(answer, isHead: strcmp(method, "HEAD") == 0)
    }

    private func begin(_ method: UnsafePointer<CChar>, _ version: UnsafePointer<CChar>) -> MHD_Result {
        let head = head(method, version)
        let isHead = strcmp(method, "HEAD") == 0
        let request = HTTPServiceRequest(
            method: String(cString: method), target: target, headers: head.headers, client: client.address, body: body,
            atEnd: { [weak self] action in if let self { self.atEnd(action) } else { action() } })
        if request.headers.contains(where: { $0.name.lowercased() == "transfer-encoding" }) { isChunked.set() }
        guard head.isWhole, RequestFraming.isClear(request.headers) else { return queue(Self.unclear, isHead: isHead) }
        switch core.handler(request) {
        case .now(let answer):
            // libmicrohttpd closes the connection behind an answer that comes before its request is read. That saves reading a body.
            if request.hasBody { return queue(answer, isHead: isHead) }
            state.withLock { $0.answer = answer }
            return .YES
        case .later(let time, let otherwise, let work):
            if request.hasBody { state.withLock { $0.pace = BodyPace(at: .now) } }
            if let time { state.withLock { $0.deadline = (.now + time, otherwise) } }
            start { self.answer(await work()) }
            if request.hasBody {
                isHeadAskedAgain.set()
                readAgain()
            }
            return .YES
        }
    }

    /// Nothing more is read from the connection.
    private static let unclear = HTTPServiceAnswer(
        status: 400, headers: [(name: "Connection", value: "close")],
        body: .bytes(
            Array(
                "The head of the request is unclear: it says its end or its host twice or in an unknown way, or has a NUL or a folded line in it.\n"
                    .utf8)))

    private func answer(_ answer: HTTPServiceAnswer) {
        state.withLock { $0.answer = $0.answer ?? answer }
        wake()
    }

    /// Answers in the place of a task that is late.
    func answerIfLate(_ now: ContinuousClock.Instant) {
        let late = state.withLock { state -> (answer: HTTPServiceAnswer, task: Task<Void, Never>?)? in
            guard state.answer == nil, let deadline = state.deadline, deadline.time <= now else { return nil }
            return (deadline.answer, state.task)
        }
        guard let late else { return }
        answer(late.answer)
        late.task?.cancel()
    }

    var isEndless: Bool { state.withLock { $0.answer?.isEndless ?? false } }

    /// Ends a request whose client sends no more of its body, or does not take the end of an endless answer.
    func endIfStalled(_ now: ContinuousClock.Instant, after limit: Duration, isEnding: Bool) {
        let isStalled = state.withLock { state in
            if state.answer?.isEndless == true, isEnding {
                let since = state.endingSince ?? now
                state.endingSince = since
                return now - since >= limit
            }
            return state.pace?.isStalled(at: now, after: limit) ?? false
        }
        if isStalled { cut() }
    }

    /// Ends the connection, and says why where no answer has begun.
    private func cut() {
        let isCut = state.withLock { state in
            if state.isCut || state.isOver { return false }
            state.isCut = true
            // Under the lock: libmicrohttpd closes the descriptor only after it has said that the request is over, and that waits for the lock.
            client.cut(saying: state.isQueued ? [] : Self.stalled)
            return true
        }
        if isCut { leave() }
    }

    private static let stalled: [UInt8] = {
        let text = "The rest of the body did not come in time.\n"
        let head = "HTTP/1.1 408 Request Timeout\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\nContent-Length: "
        return Array("\(head)\(text.utf8.count)\r\n\r\n\(text)".utf8)
    }()

    private func queue(_ answer: HTTPServiceAnswer, isHead: Bool) -> MHD_Result {
        let isCut = state.withLock { state in
            state.isQueued = true
            return state.isCut
        }
        guard !isCut, let response = makeResponse(answer, isHead: isHead) else { return .NO }
        defer { MHD_destroy_response(response) }
        for header in answer.headers { MHD_add_response_header(response, header.name, header.value) }
        if core.isEnding.isSet || isChunked.isSet { MHD_add_response_header(response, "Connection", "close") }
        let result = MHD_queue_response(connection, UInt32(clamping: answer.status), response)
        if result == .YES {
            isAnswered.set()
            answer.begun?()
        }
        return result
    }

    /// Small bodies are handed over whole, large ones and streams piece by piece as the client takes them.
    private func makeResponse(_ answer: HTTPServiceAnswer, isHead: Bool) -> OpaquePointer? {
        switch answer.body {
        case .bytes(let bytes) where bytes.count <= 32 << 10:
            // It counts at once, where the answer has its body with it.
            if !isHead, answer.status != 304 { sent(bytes.count) }
            return bytes.withUnsafeBytes {
                MHD_create_response_from_buffer($0.count, UnsafeMutableRawPointer(mutating: $0.baseAddress), .RESPMEM_MUST_COPY)
            }
        case .bytes(let bytes): return BodySource(self, bytes, nil).response(length: bytes.count)
        case .stream(let length, let write):
            let stream = AnswerStream { [weak self] in self?.wake() }
            state.withLock { $0.stream = stream }
            if core.isEnding.isSet { stream.prepareToEnd() }
            if !isHead {
                start {
                    do {
                        try await write(stream)
                        stream.finish(.end)
                    } catch {
                        stream.finish(.failure)
                    }
                }
            }
            return BodySource(self, [], stream).response(length: length)
        }
    }

    func sent(_ count: Int) { core.options.counts.note { $0.bodyBytes += count } }

    private func start(_ work: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            // The task begins under the lock, so that nobody ends the request without it.
            if !state.isOver { state.task = Task { await work() } }
        }
    }

    func prepareToEnd() { state.withLock { $0.stream }?.prepareToEnd() }

    /// The client has left, or the service ends. libmicrohttpd hears it from the next question.
    func leave() {
        end()
        wake()
    }

    /// libmicrohttpd has sent the answer, or the client has left.
    func completed() {
        sleep.withLock { $0.isOver = true }
        end()
        let actions = state.withLock { state in
            state.isCompleted = true
            defer { state.atEnd = [] }
            return state.atEnd
        }
        for action in actions { action() }
        // A request that libmicrohttpd itself refuses does not begin here.
        if isBegun.isSet, !isAnswered.isSet { core.options.counts.note { $0.departed += 1 } }
    }

    private func atEnd(_ action: @escaping @Sendable () -> Void) {
        let isCompleted = state.withLock { state in
            if !state.isCompleted { state.atEnd.append(action) }
            return state.isCompleted
        }
        if isCompleted { action() }
    }

    private func end() {
        let (task, stream) = state.withLock { state in
            state.isOver = true
            defer { (state.task, state.stream) = (nil, nil) }
            return (state.task, state.stream)
        }
        body.end(.failure(ClientLeft()))
        stream?.finish(.failure)
        task?.cancel()
    }

    // MARK: Sleep

    /// libmicrohttpd begins to ask. To be called before the question is looked at.
    func isAsked() { sleep.withLock { $0.isWoken = false } }

    /// There is no answer to libmicrohttpd's question yet. To be called on the connection's thread.
    func fallAsleep() {
        sleep.withLock { sleep in
            guard !sleep.isOver else { return }
            MHD_suspend_connection(connection)
            if sleep.isWoken {
                resume()
            } else {
                sleep.isAsleep = true
                client.thread.watch(client.descriptor) { self.leave() }
            }
        }
    }

    /// Has libmicrohttpd read on until its client has sent nothing more. To be called on the connection's thread.
    ///
    /// Without this it waits for news after a short read, and the end of the connection may have come before that read: then nothing is new.
    private func readAgain() {
        sleep.withLock { sleep in
            guard !sleep.isOver else { return }
            // A connection that comes out of its sleep counts as ready.
            MHD_suspend_connection(connection)
            resume()
        }
    }

    /// Has libmicrohttpd ask again.
    private func wake() {
        sleep.withLock { sleep in
            sleep.isWoken = true
            guard sleep.isAsleep, !sleep.isOver else { return }
            sleep.isAsleep = false
            client.thread.unwatch(client.descriptor)
            resume()
        }
    }

    private func resume() {
        MHD_resume_connection(connection)
        client.thread.wake()
    }

    // MARK: The head

    private struct Head {
        var headers: [(name: String, value: String)] = []
        var parts = HeadParts()
    }

    /// The headers, and whether they are all that the head has said.
    private func head(
        _ method: UnsafePointer<CChar>, _ version: UnsafePointer<CChar>
    ) -> (headers: [(name: String, value: String)], isWhole: Bool) {
        var head = Head()
        if let target = UnsafeRawPointer(bitPattern: place.start) { head.parts.note(target, count: place.count) }
        head.parts.note(version, count: strlen(version))
        withUnsafeMutablePointer(to: &head) { head in
            _ = MHD_get_connection_values_n(
                connection, .HEADER_KIND,
                { context, _, name, nameCount, value, valueCount in
                    guard let name, let head = context?.assumingMemoryBound(to: Head.self) else { return .YES }
                    head.pointee.parts.note(name, count: nameCount)
                    // A header without a value has an empty one.
                    if let value, valueCount > 0 { head.pointee.parts.note(value, count: valueCount) }
                    head.pointee.headers.append((text(name, nameCount), value.map { text($0, valueCount) } ?? ""))
                    return .YES
                }, head)
        }
        head.parts.note(UnsafeRawPointer(method) + gannet_http_head_size(connection), count: 0)
        return (head.headers, head.parts.isWhole || !HeadParts.isNeeded)
    }
}

/// Bytes of a stranger, which need not be UTF-8.
private func text(_ bytes: UnsafePointer<CChar>, _ count: Int) -> String {
    String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
}
