internal import GannetHTTP
internal import GannetPictures

/// Tells images by their bytes, for answers whose `Content-Type` leaves it open.
enum ImageBody {
    static func decides(_ headers: ResponseHeaders, _ body: [UInt8]) -> Bool {
        headers.leaveTypeOpen && (try? ImageProbe().examine(body)) != nil
    }
}
