public import HTTPEngine
internal import ImageProbe

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Fetcher {
    /// The bytes of an image, told by themselves and not by what the server calls them: PNG, JPEG, GIF, WebP, AVIF, BMP, TIFF, ICO or SVG.
    ///
    /// One that is cut short, malformed or larger than ``FetcherOptions/imageLimits`` fails with ``FetchError/Kind/unexpectedContent``.
    public func image(from url: URL) async throws(FetchError) -> FetchedImage {
        try await image(for: FetchRequest(url.absoluteString))
    }

    /// The image that answers a request.
    public func image(for request: FetchRequest) async throws(FetchError) -> FetchedImage {
        let body = try await fetch.serve(request).get().body
        do throws(ImageProbeError) {
            let info = try ImageProbe(limits: options.imageLimits).examine(body)
            return FetchedImage(data: Data(body), format: info.format, size: info.size)
        } catch {
            throw FetchError(kind: .unexpectedContent, url: request.url, detail: error.description)
        }
    }

    /// Images of many URLs at a time; returns when the last of them is there or has failed.
    public func images(from urls: some Sequence<URL>) async -> [URL: Result<Data, FetchError>] {
        var images: [URL: Result<Data, FetchError>] = [:]
        for await item in results(for: urls, { url throws(FetchError) in try await self.image(from: url).data }) {
            images[item.url] = item.result
        }
        return images
    }
}
