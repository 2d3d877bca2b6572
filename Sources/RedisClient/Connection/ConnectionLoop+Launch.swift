internal import GannetBasics

extension ConnectionLoop {
    /// Starts a connection's thread and waits until it is connected, or has failed to. The result fires when the thread ends.
    static func launch<Message>(
        _ configuration: RedisConfiguration, name: String, mailbox: Mailbox<Message>, session: @escaping @Sendable () -> any Session
    ) async throws(RedisError) -> OneShot<Void> {
        let ready = OneShot<Result<Void, RedisError>>()
        let ended = OneShot<Void>()
        OwnedThread.start(name: name) {
            ConnectionLoop(configuration, session: session(), wakeup: mailbox.wakeup, ready: ready).run()
            ended.fire(())
        }
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
