/// The head of an answer of a made-up web.
enum WebAnswerHead {
    static func bytes(_ reply: WebAnswer.Reply, _ plan: WebPlan, _ ports: WebPorts, _ bodies: WebBodies) -> [UInt8] {
        var text = "HTTP/1.1 \(reply.status) \(reason(reply.status))\r\n"
        switch reply.body {
        case .bytes(let count): text += "Content-Type: image/jpeg\r\nContent-Length: \(count)\r\n"
        case .robots: text += "Content-Type: text/plain\r\nContent-Length: \(bodies.robots.count)\r\n"
        case .hugeRobots: text += "Content-Type: text/plain\r\nContent-Length: \(bodies.hugeRobots.count)\r\n"
        // A body of one byte at least, so that the half of it is not the whole.
        case .cut(let count): text += "Content-Type: image/jpeg\r\nContent-Length: \(count + 1)\r\n"
        case .endless: text += "Content-Type: image/jpeg\r\nConnection: close\r\n"
        case .wrongEncoding(let count): text += "Content-Type: image/jpeg\r\nContent-Encoding: gzip\r\nContent-Length: \(count)\r\n"
        }
        if let number = reply.location {
            let url = plan.urls[number]
            let path = url.target == nil ? url.path : url.targetPath
            text += "Location: \(ports.origin(of: plan.hosts[plan.bodyHost(of: url)]))\(path)\r\n"
        }
        if let seconds = reply.retryAfter { text += "Retry-After: \(seconds)\r\n" }
        text += "\r\n"
        return Array(text.utf8)
    }

    private static func reason(_ status: UInt16) -> String {
        switch status {
        case 200: "OK"
        case 302: "Found"
        case 404: "Not Found"
        case 429: "Too Many Requests"
        case 500: "Internal Server Error"
        default: "Service Unavailable"
        }
    }
}
