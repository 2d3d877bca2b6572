import GannetFetch
import Glibc

/// Answers after it has read a line, even if its caller has left.
struct StubbornDownloader: Downloader {
    func download(_ request: DownloadRequest, through gate: (any HopGate)?) async throws(FetchError) -> Download {
        print("asked")
        fflush(nil)
        let line = await Task.detached { readLine() }.value ?? ""
        let headers = ResponseHeaders([("Cache-Control", "max-age=3600")])
        return Download(finalURL: request.url, status: 200, headers: headers, bytes: Array("stubborn\(line)".utf8))
    }
}
