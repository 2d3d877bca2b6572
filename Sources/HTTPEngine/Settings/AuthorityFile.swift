import COpenSSL

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The file of certificate authorities that a user has named. libcurl reads it when it first needs it, and then each URL would be told what is
/// wrong with the file.
enum AuthorityFile {
    /// What systems ship has a quarter of a megabyte.
    private static let largestSize = 64 << 20

    /// Throws unless every certificate in the file can be read, and there is one.
    static func check(_ path: String) throws(InvalidOptions) {
        let name = "The CA file \(path.escapedForDisplay)"
        var status = stat()
        guard stat(path, &status) == 0, access(path, R_OK) == 0 else {
            throw InvalidOptions("\(name) cannot be read: \(String(cString: strerror(errno))).")
        }
        // Opening a pipe would wait for somebody to write into it.
        guard status.st_mode & S_IFMT == S_IFREG else { throw InvalidOptions("\(name) is not a file.") }
        guard status.st_size <= largestSize else { throw InvalidOptions("\(name) is larger than \(largestSize >> 20) MiB.") }
        guard let file = BIO_new_file(path, "r") else { throw InvalidOptions("\(name) cannot be read.") }
        defer {
            BIO_free(file)
            ERR_clear_error()
        }
        ERR_clear_error()
        var count = 0
        // Without somebody to ask for the password of an encrypted one, OpenSSL asks the terminal and waits.
        while let certificate = PEM_read_bio_X509_AUX(file, nil, { _, _, _, _ in -1 }, nil) {
            X509_free(certificate)
            count += 1
        }
        // That no further one begins is told as an error too.
        guard gannet_error_reason(ERR_peek_last_error()) == PEM_R_NO_START_LINE else {
            throw InvalidOptions("\(name) cannot be used: its certificate number \(count + 1) is damaged.")
        }
        guard count > 0 else {
            throw InvalidOptions("\(name) holds no certificate in PEM form, which begins with '-----BEGIN CERTIFICATE-----'.")
        }
    }
}
