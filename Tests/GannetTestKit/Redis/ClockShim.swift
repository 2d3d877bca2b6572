#if canImport(Glibc)
/// The preloaded library behind `MovableClock`, compiled once per test process: some 50 ms, and no cache that could be stale, left
/// behind or written by somebody else.
enum ClockShim {
    private static let built = Task { () async throws -> (folder: TemporaryFolder, path: String) in
        let folder = try TemporaryFolder()
        let source = try folder.write(PackageResources.clock_shim_c, to: "clock-shim.c")
        guard let compiler = ["cc", "gcc", "clang"].lazy.compactMap(Program.find).first else {
            throw KitError("no C compiler (cc, gcc or clang) for the movable clock: Scripts/setup --tests installs one")
        }
        let library = folder.file("clock.so")
        try await ChildProcess.succeed(compiler, ["-shared", "-fPIC", "-O2", "-Wall", "-Werror", "-o", library, source])
        return (folder, library)
    }

    static func path() async throws -> String {
        try await built.value.path
    }
}
#endif
