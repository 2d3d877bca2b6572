internal import Crawl
internal import GannetBase

/// The description of all endpoints for programs (OpenAPI 3.1).
enum OpenAPIDocument {
    /// `/v1/openapi.json`, which describes itself too.
    static func endpoint(_ endpoints: [Endpoint]) -> Endpoint {
        var endpoint = Endpoint(
            method: "GET", path: "/v1/openapi.json", summary: "This description.", hasEffects: false,
            reply: { _ in .now(HTTPServiceAnswer()) })
        let text = text(of: endpoints + [endpoint])
        endpoint.reply = { _ in .now(HTTPServiceAnswer(text, type: "application/json")) }
        return endpoint
    }

    private static func text(of endpoints: [Endpoint]) -> String {
        var paths: [(key: String, value: JSONValue)] = []
        for endpoint in endpoints {
            var operations = [(key: endpoint.method.lowercased(), value: operation(endpoint))]
            if endpoint.method == "GET" { operations.append(("head", operation(endpoint, hasBody: false))) }
            if let index = paths.firstIndex(where: { $0.key == endpoint.path }), case .object(let there) = paths[index].value {
                paths[index].value = .object(there + operations)
            } else {
                paths.append((endpoint.path, .object(operations)))
            }
        }
        let document: JSONValue = [
            "openapi": "3.1.0",
            "info": [
                "title": "Gannet's gateway", "version": .string(Version.current),
                "description": "Fetches URLs once for all who ask, and shows the queues of a cluster.",
            ],
            "paths": .object(paths),
            "components": [
                "securitySchemes": ["token": ["type": "http", "scheme": "bearer"]],
                "schemas": ["Problem": problem],
            ],
            "security": [["token": []], [:]],
        ]
        return document.text + "\n"
    }

    private static func operation(_ endpoint: Endpoint, hasBody: Bool = true) -> JSONValue {
        let summary = hasBody ? endpoint.summary : "The head of the answer to GET."
        var members: [(key: String, value: JSONValue)] = [("summary", .string(summary))]
        if !endpoint.parameters.isEmpty { members.append(("parameters", .array(endpoint.parameters.map(\.document)))) }
        if !endpoint.takes.isEmpty {
            let content = endpoint.takes.map { (key: $0, value: JSONValue.object([("schema", ["type": "string"])])) }
            members.append(("requestBody", ["required": true, "content": .object(content)]))
        }
        var answers = endpoint.answers.sorted { $0.key < $1.key }.map { status, types in
            (key: "\(status)", value: answer(status, hasBody ? types : [], endpoint.shape))
        }
        let problem = "The request cannot be answered as it was meant."
        let problems: JSONValue =
            hasBody
            ? ["description": .string(problem), "content": ["application/problem+json": ["schema": problemReference]]]
            : ["description": .string(problem)]
        answers += [("414", Self.tooLarge), ("431", Self.tooLarge), ("default", problems)]
        members.append(("responses", .object(answers)))
        if endpoint.isOpen { members.append(("security", [])) }
        return .object(members)
    }

    private static func answer(_ status: Int, _ types: [String], _ shape: AnswerShape?) -> JSONValue {
        let content = types.map { type in
            let schema: JSONValue =
                switch type {
                case "application/json": shape?.document ?? [:]
                case "application/problem+json": problemReference
                default: ["type": "string"]
                }
            return (key: type, value: JSONValue.object([("schema", schema)]))
        }
        let description: JSONValue = status == 304 ? "The client has the present state." : "The answer."
        return types.isEmpty ? ["description": description] : ["description": description, "content": .object(content)]
    }

    private static let problemReference: JSONValue = ["$ref": "#/components/schemas/Problem"]

    /// libmicrohttpd answers before a request has begun, and cannot be told how.
    private static let tooLarge: JSONValue = [
        "description": "The head of the request has 32 KB or more. The body is no problem and has no media type."
    ]

    private static let problem: JSONValue = [
        "type": "object", "required": ["title", "status", "class", "detail"],
        "properties": [
            "title": ["type": "string"], "status": ["type": "integer"], "class": ["type": "string"], "detail": ["type": "string"],
            "url": ["type": "string"], "originStatus": ["type": "integer"],
        ],
    ]
}
