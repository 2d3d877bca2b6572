/// A value that strangers may ask for as often as they like: it is looked up once a second at most, by one of them while the others wait.
actor FreshValue<Value: Sendable> {
    private let lifetime: Duration
    private let look: @Sendable () async -> Value
    private var last: (value: Value, until: ContinuousClock.Instant)?
    private var looking: Task<Value, Never>?

    init(for lifetime: Duration = .seconds(1), _ look: @escaping @Sendable () async -> Value) {
        self.lifetime = lifetime
        self.look = look
    }

    func value() async -> Value {
        if let last, ContinuousClock.now < last.until { return last.value }
        if let looking { return await looking.value }
        let task = Task { await look() }
        looking = task
        let value = await task.value
        looking = nil
        last = (value, ContinuousClock.now + lifetime)
        return value
    }
}
