internal import Crawl
internal import GannetFetch
internal import GannetHTTP
internal import GannetPictures
internal import Results

/// `/v1/picture`: a picture at the size that a client needs.
extension Gateway {
    private static let formats = ["auto", "jpeg", "png", "webp", "avif"]

    var pictureEndpoint: Endpoint {
        let sides = Parameter.Form.number(ThumbnailRequest.sides)
        return Endpoint(
            method: "GET", path: "/v1/picture",
            summary: "A thumbnail of the picture at a URL. No picture is enlarged.",
            parameters: requestParameters + Self.conditions + [
                Parameter("width", sides, required: true, "The most pixels across."),
                Parameter(
                    "height", sides,
                    "The most pixels down. Without it 'contain' sets no bound below the largest, and 'cover' makes a square."),
                Parameter(
                    "fit", .choice(["contain", "cover"]),
                    "'contain' shows all of the picture. 'cover' fills the size and cuts two sides. Without it, contain."),
                Parameter(
                    "format", .choice(Self.formats),
                    "'auto', which is usual, chooses by the header Accept: WebP, AVIF for small ones, or JPEG, and PNG for transparent pictures."
                ),
                Parameter("accept", in: .header, "The formats that the client reads, such as image/webp."),
            ],
            answers: [200: ThumbnailFormat.allCases.filter { $0 != .plain }.map(\.mediaType), 304: []],
            reply: picture)
    }

    private func picture(_ request: EndpointRequest) throws(Problem) -> HTTPServiceReply {
        let question = try question(request)
        let deadline = try deadline(request.request)
        let wanted = thumbnail(request)
        let conditions = ClientConditions(request.request)
        // Without the program nothing is fetched either.
        do throws(ThumbnailFailure) { try pool.check() } catch { return .now(refusal(error, question.url)) }
        let late = ThumbnailFailure(.tooSlow, "The thumbnail was not made in the time that the client waits.")
        return .later(within: deadline, otherwise: refusal(late, question.url)) {
            let source: ServedAnswer
            switch await self.source(of: question, within: deadline) {
            case .success(let answer): source = answer
            case .failure(let error): return failure(error, of: question)
            }
            let digest = source.digest ?? SHA256Digest(of: source.body)
            switch await thumbnails.thumbnail(wanted, of: source.body, digest: digest, isKept: source.isKept) {
            case .success(let found): return answer(found, source, conditions)
            case .failure(let failure): return refusal(failure, question.url)
            }
        }
    }

    /// The thumbnail that a client wants.
    func thumbnail(_ request: EndpointRequest) -> ThumbnailRequest {
        let items = request.items
        var wanted = ThumbnailRequest(
            width: items.number("width") ?? ThumbnailRequest.sides.upperBound, height: items.number("height"),
            fit: items["fit"] == "cover" ? .cover : .contain, format: .plain)
        wanted.format =
            switch items["format"] {
            case "jpeg": .jpeg
            case "png": .png
            case "webp": .webp
            case "avif": .avif
            default: .best(for: wanted, accepting: request.request.headers("accept"))
            }
        return wanted
    }

    private func answer(_ found: SharedThumbnails.Found, _ source: ServedAnswer, _ conditions: ClientConditions) -> HTTPServiceAnswer {
        let thumbnail = found.thumbnail
        let headers = AnswerHeaders(
            thumbnail.bytes, type: thumbnail.format.mediaType, of: source, wasKept: found.wasKept, at: .now)
        var answer = headers.unchanged(conditions) ?? HTTPServiceAnswer(headers: headers.all, body: .bytes(thumbnail.bytes))
        answer.begun = { [counts] in counts.thumbnail(wasKept: found.wasKept) }
        return answer
    }

    /// An answer counts when it begins to be sent.
    private func refusal(_ failure: ThumbnailFailure, _ url: String) -> HTTPServiceAnswer {
        var answer = Problem(failure, url: url).answer
        answer.begun = { [counts] in counts.failed(failure) }
        return answer
    }
}
