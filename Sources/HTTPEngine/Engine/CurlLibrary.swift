import CCurl

/// libcurl's state for the whole process.
enum CurlLibrary {
    /// Whether an easy handle may be used for another transfer. From 7.83 to 8.1.0 a handle keeps a pointer to the freed headers of its last one, which
    /// an answer whose first header line begins with a blank makes it use: any origin could end the process.
    static let mayReuseHandles: Bool = {
        guard let version = curl_version_info(CURLVERSION_FIRST)?.pointee.version_num else { return false }
        return version < 0x07_53_00 || version >= 0x08_01_01
    }()

    /// Sets it up on first use; it stays for the life of the process, since another part of the program may use libcurl too.
    static let isReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
}
