internal import FoundationEssentials
internal import GannetHTTP

/// Answers by a function of the user's: in a test, or for another protocol than HTTP.
struct OwnAnswers: Downloader {
    let answer: @Sendable (FetchRequest) async throws -> FetchResponse

    func download(_ request: DownloadRequest, through gate: (any HopGate)?) async throws(FetchError) -> Download {
        guard let url = URL(string: request.url) else {
            throw FetchError(kind: .invalidURL, url: request.url, detail: "Foundation does not take it as a URL")
        }
        let question = FetchRequest(url) { question in
            for header in request.headers { question.headers[header.name] = header.value }
        }
        let response: FetchResponse
        do {
            response = try await withTaskExecutorPreference(UserFunctions.threads) { try await answer(question) }
        } catch let error as FetchError {
            throw error
        } catch {
            throw FetchError(kind: error is CancellationError ? .cancelled : .engine, url: request.url, detail: "\(error)")
        }
        // As of an origin: 304 answers a question whether something has changed, and any other status is a failure.
        guard (200...299).contains(response.status) || response.status == 304 && request.isConditional else {
            throw FetchError(kind: .status(response.status), url: request.url, headers: response.headers)
        }
        return Download(
            finalURL: response.finalURL.absoluteString, status: response.status, headers: response.headers, bytes: Array(response.data))
    }
}
