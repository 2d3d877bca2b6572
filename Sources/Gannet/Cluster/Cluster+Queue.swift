internal import ClusterState

/// A queue as a whole.
extension Cluster {
    /// Lets a queue's jobs wait; what is in flight goes on. Returns whether it was paused before.
    package func pause(queue: String) async throws(ClusterError) -> Bool {
        try await ClusterError.wrapping { () throws(StateError) in try await self.queue(queue).pause() }
    }

    /// Lets workers claim again. Returns whether the queue was paused.
    package func resume(queue: String) async throws(ClusterError) -> Bool {
        try await ClusterError.wrapping { () throws(StateError) in try await self.queue(queue).resume() }
    }

    /// Removes everything in a queue, its batches and totals too. A queue that was paused stays so.
    package func purge(queue: String) async throws(ClusterError) {
        try await ClusterError.wrapping { () throws(StateError) in
            let queue = self.queue(queue)
            let wasPaused = try await queue.counts().isPaused
            try await queue.clear()
            if wasPaused { _ = try await queue.pause() }
        }
    }
}
