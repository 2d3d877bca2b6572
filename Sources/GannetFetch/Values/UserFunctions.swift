package import GannetBase

/// The threads for functions of the library's users: transforms, and functions that answer requests.
package enum UserFunctions {
    /// One for each core, and at least four, because some of the functions wait for files or other programs.
    package static let threads = TaskThreads(name: "gannet-user", most: max(4, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
}
