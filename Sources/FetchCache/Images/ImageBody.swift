internal import HTTPCaching
internal import HTTPEngine
internal import ImageProbe

/// Tells images by their bytes, for answers whose `Content-Type` leaves it open.
enum ImageBody {
    static func decides(_ headers: ResponseHeaders, _ body: [UInt8]) -> Bool {
        headers.leaveTypeOpen && (try? ImageProbe().examine(body)) != nil
    }
}
