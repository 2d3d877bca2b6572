/// The answer to a request.
package struct HTTPServiceAnswer: Sendable {
    package enum Body: Sendable {
        case bytes([UInt8])
        /// The function writes the body piece by piece. It waits where the client is slow, and its task is cancelled when the client leaves.
        /// An error that it throws ends the connection, so that the client does not take a part of the body for the whole.
        case stream(length: Int?, @Sendable (AnswerStream) async throws -> Void)
    }

    package var status: Int
    package var headers: [(name: String, value: String)]
    package var body: Body
    /// Called when the answer begins to be sent. It is not called when the client has left before, or hears another answer in its place.
    package var begun: (@Sendable () -> Void)?
    /// Is held until the answer has been sent whole, or the client has left.
    package var held: (any AnyObject & Sendable)?
    /// The stream has no end of its own: it ends with its client, or when a pause says that the server ends. The server's end does not wait for
    /// its client.
    package var isEndless = false

    package init(status: Int = 200, headers: [(name: String, value: String)] = [], body: Body = .bytes([])) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A text, or JSON, or what `type` says.
    package init(status: Int = 200, _ text: String, type: String = "text/plain; charset=utf-8") {
        self.init(status: status, headers: [(name: "Content-Type", value: type)], body: .bytes(Array(text.utf8)))
    }
}

/// How a request is answered.
package enum HTTPServiceReply: Sendable {
    /// At once, on the server's own thread. A body that the client is still sending is not read.
    case now(HTTPServiceAnswer)
    /// By a task, which is cancelled when the client leaves. The connection waits without a thread.
    ///
    /// When the task has not answered within a time, the other answer is sent, and the task is cancelled. That holds to the second, and needs
    /// none of Swift's threads.
    case later(
        within: Duration? = nil, otherwise: HTTPServiceAnswer = HTTPServiceAnswer(status: 503), @Sendable () async -> HTTPServiceAnswer)
}
