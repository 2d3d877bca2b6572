/// Who to be on the server.
package struct RedisCredentials: Sendable, Equatable {
    /// Where the password comes from.
    package enum Password: Sendable, Equatable {
        case value(RedisSecret)
        /// A file read at every connect, so that a rotated secret is picked up; one line end at its end is not part of it.
        case file(path: String)
    }

    /// The ACL user; `nil` is the server's `default` user.
    package var user: String?
    package var password: Password

    package init(user: String? = nil, password: Password) {
        self.user = user
        self.password = password
    }
}
