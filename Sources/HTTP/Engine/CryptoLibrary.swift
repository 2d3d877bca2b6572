internal import COpenSSL

/// OpenSSL as a process has it once.
package enum CryptoLibrary {
    /// Keeps the library whole until the process is gone. By itself it frees its parts when `exit` is called, under the hands of threads that
    /// are still at work, and the process crashes in place of its exit status. It has to be called before any other use of OpenSSL.
    package static func stayToTheEnd() { OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) }
}
