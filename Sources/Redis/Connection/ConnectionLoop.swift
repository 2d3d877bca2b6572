internal import GannetBase

/// The thread of a connection. It performs the actions of ``ConnectionMachine`` and moves bytes between the socket and a ``Session``.
/// No other thread uses the socket, the TLS session or the parser.
final class ConnectionLoop {
    private let configuration: RedisConfiguration
    private let session: any Session
    private let wakeup: Wakeup
    private let ready: OneShot<Result<Void, RedisError>>
    private let health: ConnectionHealth
    private let sentinels: SentinelWatch?
    private let clock = ContinuousClock()
    private var machine: ConnectionMachine

    private var lookup: (any ServerLookup)?
    /// The name that a certificate has to carry.
    private var peerName = ""
    /// The primary to which the connection leads, where Sentinels name it.
    private var primary: SentinelAddress.Host?
    private var socket: Socket?
    private var transport: (any Transport)?
    private var reader: ReplyReader?
    private var greeting: Greeting?
    private var server: ServerFacts?
    private var greetingOutput = OutputQueue()
    private var output = OutputQueue()
    private var wantsWrite = false
    private var hasMoreToRead = false
    private var secret: RedisSecret?

    private let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

    /// After this many reads in a row, the thread handles requests and writes again.
    private static let readsInARow = 16

    init(
        _ configuration: RedisConfiguration, session: any Session, wakeup: Wakeup, ready: OneShot<Result<Void, RedisError>>,
        health: ConnectionHealth, isPersistent: Bool
    ) {
        self.configuration = configuration
        self.session = session
        self.wakeup = wakeup
        self.ready = ready
        self.health = health
        sentinels = if case .sentinel(let address) = configuration.address { .over(address, configuration) } else { nil }
        machine = ConnectionMachine(configuration, isPersistent: isPersistent, random: SystemRandomNumberGenerator())
    }

    deinit { readBuffer.deallocate() }

    /// Runs until the connection is closed, or its first attempt fails.
    func run() {
        sentinels?.tell(wakeup)
        defer { sentinels?.forget(wakeup) }
        perform(machine.start(now: clock.now))
        while !machine.isOver {
            if !session.takeMessages() {
                perform(machine.close())
                break
            }
            let now = clock.now
            perform(machine.tick(now: now))
            if let stall = session.expire(now: now, whileDisconnectedBecause: machine.isServing ? nil : health.failure) {
                perform(machine.failed(stall, now: now))
            }
            if let primary, let named = sentinels?.primary, named != primary { perform(machine.hasSuccessor(now: now)) }
            send()
            if machine.isOver { break }
            wait()
        }
    }
}

// MARK: - Waiting

extension ConnectionLoop {
    private func wait() {
        let maySleep = !hasMoreToRead && session.maySleep()
        defer { session.woke() }
        var descriptors = [pollfd(fd: wakeup.readDescriptor, events: Int16(POLLIN), revents: 0)]
        if let socket {
            descriptors.append(pollfd(fd: socket.descriptor, events: interest, revents: 0))
        }
        guard poll(&descriptors, nfds_t(descriptors.count), maySleep ? millisecondsToSleep : 0) >= 0 else { return }
        if descriptors[0].revents != 0 { wakeup.reset() }
        if let found = lookup?.result() {
            lookup = nil
            conclude(found)
        }
        if descriptors.count > 1, descriptors[1].revents != 0 || hasMoreToRead { advance() }
    }

    private var interest: Int16 {
        switch machine.state {
        case .opening: Int16(POLLOUT)
        case .preparing: Int16(wantsWrite ? POLLOUT : POLLIN)
        default: Int16(wantsWrite ? POLLIN | POLLOUT : POLLIN)
        }
    }

    private var millisecondsToSleep: Int32 {
        let deadlines = [machine.nextDeadline, session.nextDeadline].compactMap { $0 }
        guard let first = deadlines.min() else { return -1 }
        let milliseconds = (first - clock.now) / Duration.milliseconds(1)
        return milliseconds <= 0 ? 0 : Int32(min(milliseconds.rounded(.up), 60_000))
    }
}

// MARK: - Acting

extension ConnectionLoop {
    private func perform(_ action: ConnectionMachine.Action?) {
        switch action {
        case .lookUp: lookUp()
        case .open(let endpoint): open(endpoint)
        case .prepare: prepare()
        case .greet: greet()
        case .serve:
            reader?.maximumReplyBytes = configuration.maximumReplyBytes
            health.restored(server)
            ready.fire(.success(()))
            session.began(now: clock.now)
        case .drain:
            if session.isIdle { perform(machine.drained(now: clock.now)) }
        case .drop(let error):
            let named = name(error)
            health.failed(named)
            disconnect()
            session.lost(named, written: output.written)
            output.reset()
        case .stop(let error):
            let named = name(error)
            disconnect()
            ready.fire(.failure(named))
            session.stop(named, written: output.written)
        case nil: break
        }
    }

    private func lookUp() {
        switch configuration.address {
        case .unix(let path):
            if let endpoint = SocketAddress(unixPath: path) {
                perform(machine.found([endpoint], now: clock.now))
            } else {
                perform(machine.failed(RedisError(.invalidConfiguration, "The socket's path cannot be used: \(path)"), now: clock.now))
            }
        case .tcp(let host, let port, _):
            if let endpoints = AddressLookup.numeric(host: host, port: port) {
                peerName = host
                perform(machine.found(endpoints, now: clock.now))
            } else if lookup == nil {
                // A lookup of an earlier attempt may still run. Then its result is used.
                lookup = AddressLookup(host: host, port: port, wakeup: wakeup)
            }
        case .sentinel:
            if lookup == nil, let sentinels { lookup = SentinelLookup(sentinels, wakeup: wakeup) }
        }
    }

    private func conclude(_ lookup: Result<FoundServer, RedisError>) {
        guard machine.state == .lookingUp else { return }
        switch lookup {
        case .success(let found):
            peerName = found.name
            primary = found.primary
            perform(machine.found(found.endpoints, now: clock.now))
        case .failure(let error): perform(machine.failed(error, now: clock.now))
        }
    }

    private func open(_ endpoint: SocketAddress) {
        disconnect()
        switch Socket.connect(to: endpoint) {
        case .connecting(let socket): self.socket = socket
        case .failed(let code): perform(machine.openFailed(RedisError(.unreachable, Descriptor.message(code)), now: clock.now))
        }
    }

    private func prepare() {
        guard let socket else { return }
        do throws(RedisError) {
            if configuration.address.hasTLS {
                let context = try TLSContext(configuration.tls)
                transport = try TLSTransport(socket, context: context, serverName: configuration.tls.serverName ?? peerName)
            } else {
                transport = PlainTransport(socket)
            }
            goOnPreparing()
        } catch {
            perform(machine.failed(error, now: clock.now))
        }
    }

    private func goOnPreparing() {
        switch transport?.prepare() {
        case nil: perform(machine.prepared())
        case .needsRead, .bytes: wantsWrite = false
        case .needsWrite: wantsWrite = true
        case .ended: perform(machine.failed(RedisError(.unreachable, "it closed the connection while TLS was set up"), now: clock.now))
        case .failed(let error): perform(machine.failed(error, now: clock.now))
        }
    }

    private func greet() {
        do throws(RedisError) {
            secret = try configuration.credentials?.currentPassword()
            let greeting = Greeting(
                user: configuration.credentials?.user, password: secret, database: configuration.database,
                clientName: configuration.clientName, asksSentinel: configuration.asksSentinel)
            reader = ReplyReader(maximumReplyBytes: Greeting.maximumReplyBytes) { [address = configuration.address, secret] text in
                RedisError(reply: text, scrubbing: secret).at(address)
            }
            greetingOutput.reset()
            for command in greeting.commands { greetingOutput.append(command) }
            self.greeting = greeting
            wantsWrite = false
        } catch {
            perform(machine.failed(error, now: clock.now))
        }
    }

    private func disconnect() {
        transport = nil
        socket = nil
        reader = nil
        greeting = nil
        wantsWrite = false
        hasMoreToRead = false
    }

    private func name(_ error: RedisError) -> RedisError {
        var named = error.at(configuration.address, scrubbing: secret)
        named.isOfGivenAddress = configuration.isGivenAddress
        return named
    }
}

// MARK: - Bytes

extension ConnectionLoop {
    /// Handles a socket that has become ready.
    private func advance() {
        switch machine.state {
        case .opening:
            guard let socket else { return }
            let code = socket.connectError
            let failure = RedisError(.unreachable, Descriptor.message(code))
            perform(code == 0 ? machine.opened() : machine.openFailed(failure, now: clock.now))
        case .preparing: goOnPreparing()
        case .greeting, .serving, .draining: receive()
        case .idle, .lookingUp, .pausing, .over: break
        }
    }

    private func send() {
        guard let transport else { return }
        switch machine.state {
        case .greeting: sent(greetingOutput.drain(transport.write))
        case .serving:
            session.collect(into: &output)
            sent(output.drain(transport.write))
        case .draining: sent(output.drain(transport.write))
        default: break
        }
    }

    private func sent(_ outcome: TransportOutcome?) {
        switch outcome {
        case nil, .bytes, .needsRead: wantsWrite = false
        case .needsWrite: wantsWrite = true
        // The server may have sent a reason before it closed. Reading finds it.
        case .ended: receive()
        case .failed(let error): perform(machine.failed(error, now: clock.now))
        }
    }

    private func receive() {
        hasMoreToRead = false
        for _ in 0..<Self.readsInARow {
            guard let transport else { return }
            switch transport.read(into: readBuffer) {
            case .bytes(let count):
                guard take(UnsafeRawBufferPointer(rebasing: readBuffer[..<count])) else { return }
            case .needsRead: return
            case .needsWrite:
                wantsWrite = true
                return
            case .ended:
                closedByServer()
                return
            case .failed(let error):
                perform(machine.failed(error, now: clock.now))
                return
            }
        }
        hasMoreToRead = true
    }

    private func closedByServer() {
        guard machine.state == .greeting else {
            return perform(machine.failed(RedisError(.connectionLost, "the server closed it"), now: clock.now))
        }
        let mayLackTLS = if case .tcp(_, _, tls: false) = configuration.address { true } else { false }
        perform(machine.closedInGreeting(answered: reader?.hasRead ?? false, mayLackTLS: mayLackTLS, now: clock.now))
    }

    /// Parses bytes and dispatches their replies; false if they ended the connection.
    private func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let reader else { return false }
        var consequences = Consequences()
        do throws(RedisError) {
            try reader.feed(bytes) { reply in
                if consequences.failure == nil { dispatch(reply, &consequences) }
            }
        } catch {
            consequences.failure = meaning(of: error)
        }
        let now = clock.now
        if consequences.isGreeted { perform(machine.greeted(now: now)) }
        if consequences.isReadOnly { perform(machine.becameReadOnly(now: now)) }
        if machine.state == .draining, session.isIdle { perform(machine.drained(now: now)) }
        if let failure = consequences.failure, self.reader === reader { perform(machine.failed(failure, now: now)) }
        return self.reader === reader
    }

    /// The effects of a batch of replies. They are applied after the parser has returned, because they may free it.
    private struct Consequences {
        var isGreeted = false
        var isReadOnly = false
        var failure: RedisError?
    }

    private func dispatch(_ reply: RedisReply, _ consequences: inout Consequences) {
        if greeting != nil {
            switch greeting?.receive(reply) {
            case .failed(let error): consequences.failure = error
            case .done:
                server = greeting?.server
                greeting = nil
                consequences.isGreeted = true
            case .more, nil: break
            }
            return
        }
        switch session.receive(reply, output: &output) {
        case .goOn: break
        case .readOnly: consequences.isReadOnly = true
        case .unasked: consequences.failure = RedisError(.connectionLost, "it sent a reply to no command")
        }
    }

    /// An error of the parser, as seen from this state.
    private func meaning(of error: RedisError) -> RedisError {
        switch error.kind {
        case .replyTooLarge where machine.state == .greeting: RedisError(.notRedis, "its greeting has no end")
        case .unexpectedReply: RedisError(machine.state == .greeting ? .notRedis : .connectionLost, error.detail)
        default: error
        }
    }
}

extension ConnectionLoop {
    typealias Ready = OneShot<Result<Void, RedisError>>

    /// Starts the thread of a connection. The first value tells how the first attempt to connect ended. The second fires when the thread ends.
    static func start<Message>(
        _ configuration: RedisConfiguration, name: String, mailbox: Mailbox<Message>, health: ConnectionHealth, isPersistent: Bool,
        session: @escaping @Sendable () -> any Session
    ) -> (ready: Ready, ended: OneShot<Void>) {
        let (ready, ended) = (Ready(), OneShot<Void>())
        OwnedThread.start(name: name) {
            ConnectionLoop(
                configuration, session: session(), wakeup: mailbox.wakeup, ready: ready, health: health, isPersistent: isPersistent
            ).run()
            ended.fire(())
        }
        return (ready, ended)
    }

    /// Starts the thread of a connection and waits for its first attempt to connect. The result fires when the thread ends.
    static func launch<Message>(
        _ configuration: RedisConfiguration, name: String, mailbox: Mailbox<Message>, health: ConnectionHealth = ConnectionHealth(),
        session: @escaping @Sendable () -> any Session
    ) async throws(RedisError) -> OneShot<Void> {
        let (ready, ended) = start(
            configuration, name: name, mailbox: mailbox, health: health, isPersistent: false, session: session)
        let outcome = await withTaskCancellationHandler {
            await ready.value
        } onCancel: {
            mailbox.close()
        }
        if Task.isCancelled {
            mailbox.close()
            throw RedisError(.cancelled).at(configuration.address)
        }
        try outcome.get()
        return ended
    }
}
