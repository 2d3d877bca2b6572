internal import CMicrohttpd

/// What was asked for.
package struct HTTPServiceRequest: Sendable {
    package let method: String
    /// Without the query.
    package let path: String
}

/// What is answered.
package struct HTTPServiceAnswer: Sendable {
    package var status: Int
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]

    package init(status: Int = 200, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A text, or JSON, or whatever `type` says.
    package init(status: Int = 200, _ text: String, type: String = "text/plain; charset=utf-8") {
        self.init(status: status, headers: [(name: "Content-Type", value: type)], body: Array(text.utf8))
    }

    func queue(on connection: OpaquePointer) -> MHD_Result {
        var body = body
        let made = body.withUnsafeMutableBytes { MHD_create_response_from_buffer($0.count, $0.baseAddress, .RESPMEM_MUST_COPY) }
        guard let made else { return .NO }
        defer { MHD_destroy_response(made) }
        for header in headers { MHD_add_response_header(made, header.name, header.value) }
        return MHD_queue_response(connection, UInt32(clamping: status), made)
    }
}
