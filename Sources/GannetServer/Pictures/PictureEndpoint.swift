internal import FetchCache
internal import Gannet
internal import HTTPCaching
internal import HTTPEngine
internal import HTTPService
internal import ThumbnailMessages
internal import Thumbnails

/// `/v1/picture`: a picture at the size that a client needs.
struct PictureEndpoint: Sendable {
    let fetches: FetchEndpoints
    let pool: ThumbnailPool
    let thumbnails: SharedThumbnails

    private static let formats = ["auto", "jpeg", "png", "webp", "avif"]

    var endpoint: Endpoint {
        let sides = Parameter.Form.number(ThumbnailRequest.sides)
        return Endpoint(
            method: "GET", path: "/v1/picture",
            summary: "A thumbnail of the picture at a URL. It takes a width or a height. No picture is enlarged.",
            parameters: FetchEndpoints.requestParameters + [
                Parameter("width", sides, "The most pixels across."), Parameter("height", sides, "The most pixels down."),
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
            reply: { request throws(Problem) in try reply(request) })
    }

    private func reply(_ request: EndpointRequest) throws(Problem) -> HTTPServiceReply {
        let question = try fetches.question(request)
        let deadline = try fetches.deadline(request.request)
        let wanted = try wanted(request)
        let conditions = ClientConditions(request.request)
        do throws(ThumbnailFailure) { try pool.check() } catch { throw Problem(error, url: nil) }
        let tooLate = Problem(
            ThumbnailFailure(.tooSlow, "The thumbnail was not made in the time that the client waits."), url: question.url)
        return .later(within: deadline, otherwise: tooLate.answer) {
            let source: ServedAnswer
            switch await fetches.source(of: question, within: deadline) {
            case .success(let answer): source = answer
            case .failure(let error): return fetches.failure(error)
            }
            let digest = source.digest ?? SHA256Digest(of: source.body)
            switch await thumbnails.thumbnail(wanted, of: source.body, digest: digest, isKept: source.isKept) {
            case .success(let found): return answer(found, source, conditions)
            case .failure(let failure): return Problem(failure, url: question.url).answer
            }
        }
    }

    private func wanted(_ request: EndpointRequest) throws(Problem) -> ThumbnailRequest {
        let (width, height) = (request.items.number("width"), request.items.number("height"))
        guard width != nil || height != nil else { throw .badRequest("A picture takes the parameter 'width' or 'height', or both.") }
        let most = ThumbnailRequest.sides.upperBound
        var wanted = ThumbnailRequest(
            width: width ?? most, height: height ?? most, fit: request.items["fit"] == "cover" ? .cover : .contain, format: .plain)
        if wanted.fit == .cover, width == nil || height == nil {
            throw .badRequest("With 'fit=cover' a picture takes both 'width' and 'height'.")
        }
        wanted.format =
            switch request.items["format"] {
            case "jpeg": .jpeg
            case "png": .png
            case "webp": .webp
            case "avif": .avif
            default: AcceptedFormats(request.request.headers("accept")).best(width: width, height: height)
            }
        return wanted
    }

    private func answer(_ found: SharedThumbnails.Found, _ source: ServedAnswer, _ conditions: ClientConditions) -> HTTPServiceAnswer {
        let thumbnail = found.thumbnail
        let headers = AnswerHeaders(
            thumbnail.bytes, type: thumbnail.format.mediaType, of: source, wasKept: found.wasKept, at: .now)
        if conditions.isCurrent(headers.tag, lastModified: nil, now: Moment.now.millisecondsSince1970 / 1000) {
            return HTTPServiceAnswer(status: 304, headers: headers.ofUnchanged)
        }
        return HTTPServiceAnswer(status: 200, headers: headers.all, body: .bytes(thumbnail.bytes))
    }
}
