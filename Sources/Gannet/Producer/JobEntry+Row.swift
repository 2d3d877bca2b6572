internal import ClusterState
internal import HTTPEngine

/// Why a row of an input becomes no job.
struct RowRefusal: Error, CustomStringConvertible {
    let description: String
}

extension JobEntry {
    /// The job that a row of an input becomes, when it is to be fetched with these headers.
    init(row: ArraySlice<UInt8>, headers: ExtraHeaders = .none) throws(RowRefusal) {
        let url: CanonicalURL
        do throws(RequestRejection) {
            url = try CanonicalURL(bytes: row)
        } catch {
            throw RowRefusal(description: error.description)
        }
        guard let id = URLID(url, headers.fields) else { throw RowRefusal(description: "it has no id") }
        do throws(StateError) {
            try self.init(id: id, host: url.hostName, url: String(decoding: row, as: UTF8.self))
        } catch {
            throw RowRefusal(description: error.description)
        }
    }
}
