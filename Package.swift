// swift-tools-version: 6.0
import PackageDescription

#if os(Linux)
import Glibc
#endif

// This file and Docs/ARCHITECTURE.md decide which target may import which. `Scripts/check imports` checks the sources.
// Warnings are errors on the command line of our own builds, never as a flag here: SwiftPM refuses dependants of a
// package with unsafe flags.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

// Debian keeps the libraries where the compiler looks anyway, and hiredis' file names a flag that SwiftPM warns about in every
// build. Homebrew's live in folders of their own.
#if os(macOS)
func homebrew(_ name: String) -> String? { name }
#else
func homebrew(_ name: String) -> String? { nil }
#endif

func room(_ name: String, _ parts: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: parts + ["GannetTestKit"], path: "Tests/\(name)Tests", exclude: exclude,
        swiftSettings: settings)
}

let package = Package(
    name: "gannet",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "gannet", targets: ["GannetCommand"]),
        .library(name: "GannetFetch", targets: ["GannetFetch"]),
        .library(name: "GannetPictures", targets: ["GannetPictures"]),
        .library(name: "GannetRedis", targets: ["GannetRedis"]),
    ],
    targets: [
        // C libraries of the system. Their types stay inside the one or two targets that import them.
        .systemLibrary(
            name: "CHiredis", pkgConfig: homebrew("hiredis"),
            providers: [.apt(["libhiredis-dev"]), .brew(["hiredis"])]),
        .systemLibrary(
            name: "COpenSSL", pkgConfig: homebrew("openssl"),
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        .systemLibrary(
            name: "CCurl", pkgConfig: homebrew("libcurl"),
            providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
        .systemLibrary(name: "CUnistring", providers: [.apt(["libunistring-dev"]), .brew(["libunistring"])]),
        .systemLibrary(name: "CEpoll"),
        .systemLibrary(name: "CAres", pkgConfig: homebrew("libcares"), providers: [.apt(["libc-ares-dev"]), .brew(["c-ares"])]),
        .systemLibrary(
            name: "CMicrohttpd", pkgConfig: homebrew("libmicrohttpd"), providers: [.apt(["libmicrohttpd-dev"]), .brew(["libmicrohttpd"])]),
        .systemLibrary(name: "CZlib", pkgConfig: homebrew("zlib"), providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
        .systemLibrary(name: "CBrotli", pkgConfig: homebrew("libbrotlidec"), providers: [.apt(["libbrotli-dev"]), .brew(["brotli"])]),
        // For tests, which need something to decode.
        .systemLibrary(
            name: "CBrotliEncoder", pkgConfig: homebrew("libbrotlienc"), providers: [.apt(["libbrotli-dev"]), .brew(["brotli"])]),
        .systemLibrary(name: "CArchive", pkgConfig: homebrew("libarchive"), providers: [.apt(["libarchive-dev"]), .brew(["libarchive"])]),
        .systemLibrary(name: "CZstd", pkgConfig: homebrew("libzstd"), providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),

        // The parts that more than one target needs: threads, locks, queues, pauses, bytes, JSON, child processes, and the part of
        // Foundation that brings no tables along.
        .target(name: "GannetBasics", dependencies: ["CZlib"], swiftSettings: settings),

        // The state of the cluster, from the wire up.
        .target(name: "RedisClient", dependencies: ["CHiredis", "COpenSSL", "GannetBasics"], swiftSettings: settings),
        .target(
            name: "ClusterState", dependencies: ["RedisClient", "GannetBasics"],
            resources: [.embedInCode("Scripts")],
            swiftSettings: settings),

        // Fetching, which knows nothing of Redis.
        .target(
            name: "HTTPEngine", dependencies: ["CCurl", "CUnistring", "CEpoll", "COpenSSL", "CAres", "CBrotli", "CZstd", "GannetBasics"],
            swiftSettings: settings),
        // Tells the format and size of an image by its bytes, and knows nothing of where they came from.
        .target(name: "ImageProbe", swiftSettings: settings),
        // Whether a site permits a fetch: robots.txt, and headers against the use of an answer. Bytes and values in, verdicts out.
        .target(name: "SiteRules", swiftSettings: settings),

        // For how long an answer may be used, and under which key it is kept: pure functions that workers and the library share.
        .target(name: "HTTPCaching", dependencies: ["HTTPEngine", "GannetBasics"], swiftSettings: settings),
        // Shared fetches, and the tiers that keep answers: memory and disk.
        .target(name: "FetchCache", dependencies: ["HTTPEngine", "HTTPCaching", "ImageProbe", "GannetBasics"], swiftSettings: settings),

        // The library for Swift programs.
        .target(
            name: "GannetFetch", dependencies: ["HTTPEngine", "HTTPCaching", "FetchCache", "ImageProbe", "GannetBasics"],
            swiftSettings: settings),

        // Lists of pictures as values that any view or page can draw.
        .target(name: "GannetPictures", dependencies: ["GannetFetch", "GannetBasics"], swiftSettings: settings),

        // The library's shared tier in Redis.
        .target(
            name: "GannetRedis",
            dependencies: ["RedisClient", "ClusterState", "HTTPEngine", "HTTPCaching", "FetchCache", "GannetFetch", "GannetBasics"],
            swiftSettings: settings),
        // Archives (WARC) and datasets (tar shards) of what was fetched. The module knows no place where bodies come from.
        .target(name: "Archives", dependencies: ["CArchive", "CZlib", "GannetBasics"], swiftSettings: settings),

        // The messages between gannet and the program that makes thumbnails.
        .target(name: "ThumbnailMessages", swiftSettings: settings),
        // Keeps a few of these programs at work.
        .target(name: "Thumbnails", dependencies: ["ThumbnailMessages", "ImageProbe", "GannetBasics"], swiftSettings: settings),

        // Where bodies go, and how a run records them.
        .target(
            name: "BodyStores",
            dependencies: [
                "RedisClient", "ClusterState", "HTTPEngine", "FetchCache", "Archives", "ImageProbe", "ThumbnailMessages", "Thumbnails",
                "GannetBasics",
            ],
            swiftSettings: settings),

        // Where fetching and the cluster meet, and the command line around them.
        .target(
            name: "Gannet",
            dependencies: [
                "RedisClient", "ClusterState", "HTTPEngine", "HTTPCaching", "FetchCache", "GannetFetch", "GannetRedis", "BodyStores",
                "SiteRules", "GannetBasics",
            ],
            swiftSettings: settings),
        .target(name: "CommandLineKit", swiftSettings: settings),
        // Lists of URLs as people have them: bytes in, rows out.
        .target(name: "URLLists", dependencies: ["GannetBasics"], swiftSettings: settings),
        // Parquet files, by a child process with Python and pyarrow.
        .target(name: "Tables", dependencies: ["GannetBasics"], resources: [.embedInCode("Scripts")], swiftSettings: settings),
        // A small HTTP server of our own.
        .target(name: "HTTPService", dependencies: ["CMicrohttpd", "CEpoll", "GannetBasics"], swiftSettings: settings),
        // The gateway: answers clients that want a URL now.
        .target(
            name: "GannetServer",
            dependencies: [
                "HTTPService", "Gannet", "GannetPictures", "BodyStores", "ClusterState", "FetchCache", "HTTPCaching", "HTTPEngine",
                "ImageProbe", "URLLists", "ThumbnailMessages", "Thumbnails", "GannetBasics",
            ],
            resources: [.embedInCode("Window")],
            swiftSettings: settings),
        .executableTarget(
            name: "GannetCommand",
            dependencies: [
                "Gannet", "GannetServer", "BodyStores", "ClusterState", "HTTPEngine", "CommandLineKit", "HTTPService", "GannetBasics",
                "URLLists", "Tables", "ThumbnailMessages", "Thumbnails",
            ],
            swiftSettings: settings),

        // Real servers for tests: Redis with a clock of its own, origins.
        .target(
            name: "GannetTestKit", dependencies: ["CEpoll", "COpenSSL", "CZlib", "CBrotliEncoder", "CZstd", "HTTPEngine", "GannetBasics"],
            path: "Tests/GannetTestKit", resources: [.embedInCode("Redis/clock-shim.c")], swiftSettings: settings),
        // The processes that tests and checks start, often to kill them: one program with a word for each.
        .executableTarget(
            name: "TestHelper",
            dependencies: [
                "Archives", "ClusterState", "RedisClient", "FetchCache", "HTTPEngine", "GannetFetch", "GannetRedis", "GannetPictures",
                "SiteRules", "Thumbnails", "ThumbnailMessages", "COpenSSL", "GannetBasics", "GannetTestKit",
            ],
            path: "Tests/Helper", swiftSettings: settings),

        // The tests of a room: of the targets that stand together on a floor of Docs/ARCHITECTURE.md.
        room("Base", ["GannetBasics"]),
        room("TestKit", ["RedisClient"]),
        room("Redis", ["RedisClient", "GannetBasics"]),
        room("Queue", ["ClusterState", "RedisClient", "GannetBasics", "TestHelper"]),
        room("HTTP", ["HTTPEngine", "HTTPCaching", "SiteRules", "CCurl", "GannetBasics"], exclude: ["URL/Suites", "Sites/Comparison"]),
        room(
            "Picture", ["ImageProbe", "Thumbnails", "ThumbnailMessages", "GannetBasics", "TestHelper"],
            exclude: ["Probe/Samples", "Thumbnails/Comparison"]),
        room(
            "Fetch",
            [
                "FetchCache", "GannetFetch", "GannetPictures", "GannetRedis", "HTTPCaching", "HTTPEngine", "ClusterState", "GannetBasics",
                "TestHelper",
            ]),
        room(
            "Result",
            [
                "BodyStores", "Archives", "ClusterState", "HTTPEngine", "ThumbnailMessages", "Thumbnails", "GannetBasics", "TestHelper",
            ]),
        room("List", ["URLLists", "Tables", "GannetBasics"], exclude: ["Tables/requirements.txt"]),
        room(
            "Crawl",
            ["Gannet", "BodyStores", "FetchCache", "HTTPCaching", "ClusterState", "HTTPEngine", "RedisClient", "GannetBasics"]),
        room(
            "Server",
            [
                "GannetServer", "HTTPService", "Gannet", "HTTPCaching", "HTTPEngine", "ClusterState", "RedisClient", "ThumbnailMessages",
                "Thumbnails", "BodyStores", "GannetBasics",
            ]),
        room(
            "Command",
            [
                "GannetCommand", "CommandLineKit", "Gannet", "Archives", "ClusterState", "GannetBasics", "ImageProbe", "URLLists", "Tables",
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// `gannet-thumbnail` is made where libvips and libseccomp are (Debian: libvips-dev, libseccomp-dev), so only on Linux. All else builds without
// them. GANNET_THUMBNAIL=yes or no decides in their place: SwiftPM does not look again after they were installed.
#if os(Linux)
let hasVips = access("/usr/include/vips/vips.h", R_OK) == 0 && access("/usr/include/seccomp.h", R_OK) == 0
#else
let hasVips = false
#endif
if Context.environment["GANNET_THUMBNAIL"].map({ $0 == "yes" }) ?? hasVips {
    package.products.append(.executable(name: "gannet-thumbnail", targets: ["GannetThumbnail"]))
    package.targets += [
        .systemLibrary(name: "CVips", providers: [.apt(["libvips-dev"])]),
        .systemLibrary(name: "CSeccomp", providers: [.apt(["libseccomp-dev"])]),
        // The end of a process' rights, for programs that read strangers' pictures.
        .target(name: "ThumbnailSandbox", dependencies: ["CSeccomp"], swiftSettings: settings),
        .executableTarget(
            name: "GannetThumbnail", dependencies: ["CVips", "ImageProbe", "ThumbnailMessages", "ThumbnailSandbox"],
            swiftSettings: settings),
    ]
    for target in package.targets {
        switch target.name {
        case "PictureTests", "ServerTests", "CommandTests": target.dependencies.append("GannetThumbnail")
        case "TestHelper":
            target.dependencies.append("ThumbnailSandbox")
            target.swiftSettings?.append(.define("SANDBOX"))
        default: break
        }
    }
} else {
    package.targets.first { $0.name == "TestHelper" }?.exclude.append("Sandbox")
}

// An image is built from what the program needs (Dockerfile), without the folders of tests and measurements.
if Context.environment["GANNET_PRODUCTS_ONLY"] != nil {
    package.targets.removeAll { $0.type == .test || $0.path != nil }
}

// `Scripts/test ROOM` builds what the tests of these rooms need, and nothing else.
if let rooms = Context.environment["GANNET_ROOMS"]?.split(separator: " "), !rooms.isEmpty {
    var needed: Set<String> = []
    var found = rooms.map { "\($0)Tests" }
    while let name = found.popLast() {
        guard let target = package.targets.first(where: { $0.name == name }) else {
            errno = ENOENT
            perror("Package.swift: there is no target \(name)")
            exit(1)
        }
        guard needed.insert(name).inserted else { continue }
        for case .byNameItem(let name, _) in target.dependencies { found.append(name) }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products.removeAll { product in
        switch product {
        case let product as Product.Executable: !needed.isSuperset(of: product.targets)
        case let product as Product.Library: !needed.isSuperset(of: product.targets)
        default: true
        }
    }
}

// The packages of benchmarks and fuzz targets use all parts, and are built in the same folder (Scripts/bench, Scripts/fuzz).
if Context.environment["GANNET_PARTS"] != nil {
    let parts = package.targets.filter { $0.type == .regular }.map(\.name)
    package.products.append(.library(name: "GannetParts", targets: parts))
}
