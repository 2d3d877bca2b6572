/// Which Redis, and which part of it.
package struct ClusterOptions: Sendable {
    /// `redis://`, `rediss://` or `unix://`. It may hold a password.
    package var redis: String

    /// A file with the password, read at every connect.
    package var passwordFile: String?

    /// PEM certificates to trust for `rediss://` instead of the system's.
    package var authorityFile: String?

    /// Every key begins with it.
    package var namespace = "gannet"

    package init(redis: String) { self.redis = redis }
}
