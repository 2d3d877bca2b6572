import CCurl

/// libcurl's state for the whole process.
enum CurlLibrary {
    /// Sets it up on first use; it stays for the life of the process, since another part of the program may use libcurl too.
    static let isReady = curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK
}
