public import FoundationEssentials
public import GannetHTTP
internal import GannetPictures

/// Values that are made of bodies, such as decoded pictures and parsed documents.
extension Fetcher {
    /// The value that `transform` makes of a URL's body, such as a decoded picture. It is made once and kept for later callers.
    ///
    /// ```swift
    /// let photo = try await fetcher.value(from: url) { try Photo($0) }
    /// ```
    ///
    /// Callers that ask at the same time share the transfer and the transform. When the last of them leaves, both are cancelled. A value is
    /// used for as long as its answer may be, and made anew when another body comes. A value of an answer that may not be kept goes to the
    /// callers that wait for it, and is not kept.
    /// - Parameters:
    ///   - url: An absolute http or https URL.
    ///   - variant: Tells values of one type from each other, such as `"thumbnail"` and `"full"`.
    ///   - cost: The part of ``FetcherOptions/valueLimit`` that the value takes, in bytes. Without it, the length of the body counts.
    ///   - transform: Runs in the background. An error that is no ``FetchError`` is thrown as ``FetchError/Kind/unexpectedContent``.
    public func value<Value: Sendable>(
        from url: URL, variant: String = "", cost: (@Sendable (Value) -> Int)? = nil,
        transform: @escaping @Sendable (Data) async throws -> Value
    ) async throws(FetchError) -> Value {
        try await value(for: FetchRequest(url), variant: variant, cost: cost, transform: transform)
    }

    /// The value that `transform` makes of the body of a request's answer. See ``value(from:variant:cost:transform:)``.
    public func value<Value: Sendable>(
        for request: FetchRequest, variant: String = "", cost: (@Sendable (Value) -> Int)? = nil,
        transform: @escaping @Sendable (Data) async throws -> Value
    ) async throws(FetchError) -> Value {
        let recipe = ValueRecipe(variant: variant, cost: cost) { try await transform(Data($0)) }
        return try await fetch.value(try request.checked(), recipe, request.caller()).get()
    }
}

/// Images, recognised by their bytes.
extension Fetcher {
    /// The bytes of an image, recognised by its content and not by its `Content-Type`: PNG, JPEG, GIF, WebP, AVIF, BMP, TIFF, ICO or SVG.
    ///
    /// An image that is cut short, malformed or larger than ``FetcherOptions/imageLimits`` fails with
    /// ``FetchError/Kind/unexpectedContent``.
    public func image(from url: URL) async throws(FetchError) -> FetchedImage { try await image(for: FetchRequest(url)) }

    /// The image that answers a request.
    public func image(for request: FetchRequest) async throws(FetchError) -> FetchedImage {
        try examined(try await served(request), request)
    }

    func examined(_ answer: ServedAnswer, _ request: FetchRequest) throws(FetchError) -> FetchedImage {
        do throws(ImageProbeError) {
            return FetchedImage(data: Data(answer.body), try ImageProbe(limits: options.imageLimits).examine(answer.body))
        } catch {
            throw FetchError(kind: .unexpectedContent, url: request.url.absoluteString, detail: error.description)
        }
    }
}

/// Fetches that can be watched, made more urgent, and cancelled.
extension Fetcher {
    /// Begins to fetch the body of a request's answer.
    public func task(for request: FetchRequest) -> FetchTask<Data> {
        // The task holds the fetcher, which would end the fetch with itself.
        FetchTask(request) { await self.fetch.serve($0, $1).map { Data($0.body) } }
    }

    /// Begins to fetch an image.
    public func imageTask(for request: FetchRequest) -> FetchTask<FetchedImage> {
        FetchTask(request) { question, caller in
            await self.fetch.serve(question, caller).flatMap { answer in
                Result { () throws(FetchError) in try self.examined(answer, request) }
            }
        }
    }

    /// Begins to fetch, and to make a value, as ``value(from:variant:cost:transform:)`` does.
    public func task<Value: Sendable>(
        for request: FetchRequest, variant: String = "", cost: (@Sendable (Value) -> Int)? = nil,
        transform: @escaping @Sendable (Data) async throws -> Value
    ) -> FetchTask<Value> {
        let recipe = ValueRecipe(variant: variant, cost: cost) { try await transform(Data($0)) }
        return FetchTask(request) { await self.fetch.value($0, recipe, $1) }
    }
}
