internal import Crawl
internal import FoundationEssentials
internal import GannetBase
internal import GannetFetch
internal import GannetHTTP
internal import GannetPictures
internal import GannetQueue
internal import Results

/// The pictures of a batch, and their kept bodies. None of these endpoints fetches a URL.
extension Gateway {
    /// Pictures in an order.
    private static let orders: KeyValuePairs<String, PictureArrangement.Order> = [
        "newest": .newestFirst, "oldest": .oldestFirst, "host": .host, "largest": .largestFirst, "smallest": .smallestFirst,
    ]
    private static let parts: KeyValuePairs<String, PictureArrangement.Grouping> = ["day": .day, "week": .week, "month": .month]

    private static let longestPage = 500
    /// A client that names the digest gets the same bytes for ever.
    private static let year = 31_536_000

    private static let id = Parameter("id", in: .path, "The id of a URL: 32 hexadecimal digits.")

    var galleryEndpoints: [Endpoint] { [picturesEndpoint, keptEndpoint] + favouriteEndpoints }

    // MARK: Lists

    private var picturesEndpoint: Endpoint {
        Endpoint(
            method: "GET", path: "/v1/pictures",
            summary: "The pictures of a batch in an order and in sections, a part at a time, and the URLs that failed.",
            parameters: [
                .queue, Parameter("batch", .text, "The batch; the latest one without this parameter."),
                Parameter("order", .choice(Self.orders.map(\.key)), "The order; the newest first without this parameter."),
                Parameter("by", .choice(Self.parts.map(\.key)), "The sections, by the time at which a job ended."),
                Parameter("east", .minutes, "Where days begin: so many minutes east of Greenwich, such as 60 or -300."),
                Parameter("favourites", .flag, "Only favourites."),
                Parameter("picture", .text, "The id of a picture, whose place in the order is answered."),
                Parameter("first", .number(0...1_000_000_000), "The place of the first picture of the answer; 0 without this parameter."),
                Parameter("count", .number(0...Self.longestPage), "How many at most; 200 without this parameter."),
            ],
            hasEffects: false, shape: Self.picturesShape, reply: list)
    }

    private static let picturesShape: AnswerShape = [
        "schema": .integer, "queue": .text, "batch": .optional(.text), "revision": .integer, "total": .integer, "failed": .integer,
        "waiting": .integer, "isCut": .flag, "isReading": .flag, "sections": .list(["start": .optional(.text), "count": .integer]),
        "first": .integer, "place": .optional(.integer), "favouritesProblem": .optional(.text),
        "pictures": .list([
            "id": .text, "url": .text, "host": .text, "failed": .flag, "endedAt": .text, "bytes": .optional(.integer),
            "type": .optional(.text), "digest": .optional(.text), "httpStatus": .optional(.integer),
            "error": .optional(["class": .text, "message": .text]), "favourite": .flag,
        ]),
    ]

    private func list(_ request: EndpointRequest) throws(Problem) -> HTTPServiceReply {
        let items = request.items
        let order = PictureArrangement(
            Self.orders.first { $0.key == items["order"] }?.value ?? .newestFirst, by: Self.parts.first { $0.key == items["by"] }?.value,
            east: items.minutes("east") ?? 0)
        let (first, count) = (items.number("first") ?? 0, items.number("count") ?? 200)
        let wanted = try items["picture"].map { text throws(Problem) in try Self.id(text) }
        return reply(request) { queue in
            guard let batch = try await batch(items["batch"], in: queue) else {
                return Self.json(queue, nil, BatchPictures.Page(), Liked(), first: first)
            }
            let liked = await liked()
            let pictures = await pictures.pictures(of: batch.number, in: queue, and: batch.found)
            let page = try await pictures.page(
                order, of: items.flag("favourites") ? liked.ids : nil, first: first, count: count, placeOf: wanted)
            return Self.json(queue, batch.name, page, liked, first: first)
        }
    }

    /// Nil where the queue has no batch.
    private func batch(_ name: String?, in queue: FetchQueue) async throws -> (name: String, number: Int, found: FoundPictures?)? {
        func ofRun(_ name: String) -> FoundPictures? {
            queue.name == settings.queue && name == settings.batch ? settings.found : nil
        }
        guard let name else {
            guard let latest = try await looks.batches(of: queue, limit: 1).batches.first else { return nil }
            return (latest.name, latest.number, ofRun(latest.name))
        }
        let found = ofRun(name)
        guard let number = try await looks.number(ofBatch: name, in: queue) else {
            // The run has not begun its batch yet, or has ended. No batch has this number.
            if let found { return (name, 0, found) }
            throw Problem.noSuchBatch(name, queue)
        }
        return (name, number, found)
    }

    private static func json(
        _ queue: FetchQueue, _ batch: String?, _ page: BatchPictures.Page, _ liked: Liked, first: Int
    ) -> JSONValue {
        let favourites = Set(liked.ids)
        return [
            "schema": 1, "queue": .string(queue.name), "batch": JSONValue(batch), "revision": .integer(page.revision),
            "total": .integer(page.total), "failed": .integer(page.failed), "waiting": .integer(page.waiting), "isCut": .bool(page.isCut),
            "isReading": .bool(page.isReading),
            "sections": .array(page.sections.map { ["start": JSONValue($0.start?.timestamp), "count": .integer($0.count)] }),
            "first": .integer(first), "place": JSONValue(page.place), "favouritesProblem": JSONValue(liked.problem),
            "pictures": .array(page.pictures.map { $0.picture.json(host: $0.host, isFavourite: favourites.contains($0.picture.id)) }),
        ]
    }

    // MARK: Favourites

    private var favouriteEndpoints: [Endpoint] {
        [
            Endpoint(
                method: "PUT", path: "/v1/favourites/{id}", summary: "Makes a picture a favourite.", parameters: [Self.id],
                answers: [204: []], reply: { request throws(Problem) in try like(request) { _ = try await $0.add($1) } }),
            Endpoint(
                method: "DELETE", path: "/v1/favourites/{id}", summary: "Takes a picture from the favourites.", parameters: [Self.id],
                answers: [204: []], reply: { request throws(Problem) in try like(request) { _ = try await $0.remove($1) } }),
        ]
    }

    private func like(
        _ request: EndpointRequest, _ change: @escaping @Sendable (Favourites, String) async throws -> Void
    ) throws(Problem) -> HTTPServiceReply {
        let id = try Self.id(request.items.required("id"))
        guard let favourites else {
            throw Problem(501, "no-favourites", "This server has no file for favourites: start it with '--favourites FILE'.")
        }
        return .later(within: Self.bound) {
            do { try await change(favourites, id.bytes.hexadecimal) } catch { return Self.problem(error).answer }
            return HTTPServiceAnswer(status: 204)
        }
    }

    /// The favourites, the newest last, or why there are none: pictures are shown in any case.
    private struct Liked: Sendable {
        var ids: [URLID] = []
        var problem: String?
    }

    private func liked() async -> Liked {
        guard let favourites else { return Liked() }
        do {
            return Liked(ids: try await favourites.all.compactMap { [UInt8](hexadecimal: $0.id.utf8).flatMap { URLID($0) } })
        } catch {
            return Liked(problem: Self.problem(error).detail)
        }
    }

    private static func problem(_ error: any Error) -> Problem {
        guard let error = error as? FavouritesError else { return Problem(error) }
        return Problem(503, "favourites", error.description)
    }

    private static func id(_ text: String) throws(Problem) -> URLID {
        guard let id = [UInt8](hexadecimal: text.utf8).flatMap({ URLID($0) }) else {
            throw .badRequest("This is no id of a URL: it has 32 hexadecimal digits.")
        }
        return id
    }

    // MARK: Bodies

    private var keptEndpoint: Endpoint {
        let sides = Parameter.Form.number(ThumbnailRequest.sides)
        return Endpoint(
            method: "GET", path: "/v1/kept/{id}",
            summary: "The kept body of a URL, or a thumbnail of it. It is never fetched.",
            parameters: [
                Self.id, Parameter("digest", .text, "The digest of the body. A client that names it may keep the answer."),
                Parameter("width", sides, "The most pixels across. With it, the answer is a thumbnail."),
                Parameter("height", sides, "The most pixels down."),
                Parameter(
                    "fit", .choice(["contain", "cover"]), "'contain' shows all of the picture. 'cover' fills the size and cuts two sides."),
            ] + Self.conditions,
            hasEffects: false, answers: [200: ["*/*"], 304: []], reply: body)
    }

    private func body(_ request: EndpointRequest) throws(Problem) -> HTTPServiceReply {
        let id = try Self.id(request.items.required("id"))
        if let away { throw away }
        let items = request.items
        let conditions = ClientConditions(request.request)
        return .later(within: Self.bound, otherwise: Self.late) {
            do {
                let gone = Problem(404, "not-kept", "The body of this URL is not kept, or not any more.")
                // A run's folder knows more than Redis, which may have an outcome of another time or none.
                let found = try settings.found?.body(of: id)
                let outcome = found == nil ? try await cluster.outcome(id) : nil
                let content = found?.content ?? outcome?.content
                guard let content, let digest = content.digest.flatMap({ SHA256Digest(bytes: $0) }) else { throw gone }
                let isNamed = items["digest"] == "\(digest)"
                if items["digest"] != nil, !isNamed { throw gone }
                let request = items["width"] == nil ? nil : thumbnail(request)
                let tag = EntityTag(Array("\"\(request.map { SharedThumbnails.key($0, digest).hexadecimal } ?? "\(digest)")\"".utf8))
                var type = content.fields[.contentType] ?? ""
                if type.isEmpty { type = "application/octet-stream" }
                func headers() -> AnswerHeaders { AnswerHeaders(kept: type, tag, maximumAge: isNamed ? Self.year : 0) }
                if let unchanged = headers().unchanged(conditions) { return unchanged }
                var kept = found.flatMap { $0.folder.body($0.content) }
                if let outcome { kept = try await cluster.body(of: outcome, in: settings.stores) }
                guard var bytes = kept else { throw gone }
                if let request {
                    switch await thumbnails.thumbnail(request, of: bytes, digest: digest, isKept: true) {
                    case .success(let found): (bytes, type) = (found.thumbnail.bytes, found.thumbnail.format.mediaType)
                    case .failure(let failure): throw Problem(failure, url: outcome?.content.url)
                    }
                }
                return HTTPServiceAnswer(status: 200, headers: headers().all, body: .bytes(bytes))
            } catch {
                return Problem(error).answer
            }
        }
    }
}

extension PictureArrangement {
    /// - Parameter east: Where days begin: minutes east of Greenwich.
    init(_ order: Order, by grouping: Grouping? = nil, east minutes: Int) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: minutes * 60) ?? .gmt
        // Weeks begin as ISO 8601 has it, on Mondays.
        calendar.firstWeekday = 2
        calendar.minimumDaysInFirstWeek = 4
        self.init(order, by: grouping, calendar: calendar)
    }
}
