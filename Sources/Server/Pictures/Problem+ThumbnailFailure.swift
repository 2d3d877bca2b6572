internal import GannetBase
internal import GannetHTTP
internal import Results

extension Problem {
    /// There is no thumbnail of the picture at a URL.
    init(_ failure: ThumbnailFailure, url: String?) {
        self.init(Self.status(of: failure.kind), failure.kind.rawValue, failure.sentence)
        self.url = url.map { RedactedURL.withoutSecrets($0) }
        if failure.kind == .busy { headers = [("Retry-After", "1")] }
    }

    private static func status(of kind: ThumbnailFailure.Kind) -> Int {
        switch kind {
        case .missing, .unfit: 501
        case .notPicture: 415
        case .tooLarge: 413
        case .broken, .crashed, .tooSmall, .tooLong: 422
        case .tooSlow: 504
        case .busy, .cancelled: 503
        }
    }
}
