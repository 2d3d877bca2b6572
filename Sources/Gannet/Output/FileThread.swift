internal import GannetBasics

/// Work on files that may take long, away from the few threads that all tasks share.
enum FileThread {
    static func run<Value: Sendable, Failure: Error>(
        _ body: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await result(of: body).get()
    }

    static func result<Value: Sendable, Failure: Error>(
        of body: @escaping @Sendable () throws(Failure) -> Value
    ) async -> Result<Value, Failure> {
        await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, Failure>, Never>) in
            OwnedThread.start(name: "gannet-folder") {
                do throws(Failure) {
                    continuation.resume(returning: .success(try body()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
    }
}
