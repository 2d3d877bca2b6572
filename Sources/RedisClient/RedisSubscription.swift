/// Messages on some channels, until it is let go of.
package struct RedisSubscription: AsyncSequence, Sendable {
    package enum Event: Sendable, Equatable {
        case message(channel: String, payload: [UInt8])
        /// The connection was lost and made again, or the reader was too slow: messages may have been missed.
        case interrupted
    }

    let events: AsyncStream<Event>

    package func makeAsyncIterator() -> AsyncStream<Event>.Iterator {
        events.makeAsyncIterator()
    }
}
