import GannetBasics

/// Standard input, output and error, which a program may be started without.
enum StandardDescriptors {
    /// Puts something in the place of those that are closed: the next file or socket to be opened would get the number, and receive what is
    /// meant for the terminal. Reading and writing them goes on to fail as it would have.
    static func occupy() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free number is this one, since those below it are taken by now.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Nil, or the errno with which reading standard input would fail.
    static var inputError: Int32? {
        let flags = fcntl(STDIN_FILENO, F_GETFL)
        if flags < 0 { return errno }
        return flags & O_ACCMODE == O_WRONLY ? EBADF : nil
    }
}
