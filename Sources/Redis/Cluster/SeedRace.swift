/// Tries servers of which one answer is enough. The next server is tried when the one before it has failed, or after a short pause: a server
/// that hangs costs the pause, and not its timeout.
enum SeedRace {
    /// Long enough for a server that works, so that mostly one is asked.
    static let pause = Duration.milliseconds(250)

    private enum Event<Value: Sendable>: Sendable {
        case ended(Int, Result<Value, RedisError>)
        case paused
    }

    /// The first value that a server gives. The other attempts are cancelled, and their values are released.
    /// - Returns: The errors of all servers, in their order, where none gives a value.
    static func first<Server: Sendable, Value: Sendable>(
        of servers: [Server], _ attempt: @escaping @Sendable (Server) async throws(RedisError) -> Value
    ) async -> Result<Value, Failures> {
        await withTaskGroup(of: Event<Value>.self) { group in
            var errors = [RedisError?](repeating: nil, count: servers.count)
            var rest = servers.enumerated().makeIterator()
            func tryNext() {
                guard let (index, server) = rest.next() else { return }
                group.addTask {
                    do throws(RedisError) {
                        return .ended(index, .success(try await attempt(server)))
                    } catch {
                        return .ended(index, .failure(error))
                    }
                }
                group.addTask {
                    try? await Task.sleep(for: pause)
                    return .paused
                }
            }
            tryNext()
            defer { group.cancelAll() }
            for await event in group {
                switch event {
                case .ended(_, .success(let value)): return .success(value)
                case .ended(let index, .failure(let error)):
                    errors[index] = error
                    if errors.allSatisfy({ $0 != nil }) { return .failure(Failures(errors.compactMap(\.self))) }
                    tryNext()
                case .paused: tryNext()
                }
                if Task.isCancelled { break }
            }
            return .failure(Failures(errors.compactMap(\.self)))
        }
    }

    /// The errors of all servers.
    struct Failures: Error {
        let errors: [RedisError]

        init(_ errors: [RedisError]) { self.errors = errors }
    }
}
