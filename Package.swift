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

        .target(name: "BenchmarkKit", path: "Benchmarks/BenchmarkKit", swiftSettings: settings),
        .executableTarget(
            name: "RedisBenchmark", dependencies: ["BenchmarkKit", "RedisClient", "GannetTestKit"], path: "Benchmarks/RedisBenchmark",
            swiftSettings: settings),
        .executableTarget(
            name: "StateBenchmark", dependencies: ["BenchmarkKit", "ClusterState", "RedisClient", "GannetTestKit"],
            path: "Benchmarks/StateBenchmark", swiftSettings: settings),
        .executableTarget(
            name: "HTTPBenchmark", dependencies: ["BenchmarkKit", "HTTPEngine", "GannetTestKit", "GannetBasics"],
            path: "Benchmarks/HTTPBenchmark", swiftSettings: settings),
        .executableTarget(
            name: "CacheBenchmark",
            dependencies: [
                "BenchmarkKit", "FetchCache", "GannetRedis", "GannetFetch", "GannetPictures", "GannetTestKit", "HTTPEngine", "GannetBasics",
            ],
            path: "Benchmarks/CacheBenchmark", swiftSettings: settings),
        .executableTarget(
            name: "ProductBenchmark",
            dependencies: ["BenchmarkKit", "GannetTestKit", "Gannet", "GannetFetch", "ClusterState", "RedisClient", "GannetBasics"],
            path: "Benchmarks/ProductBenchmark",
            exclude: ["Peers"], swiftSettings: settings),

        // Real servers for tests: Redis with a clock of its own, origins.
        .target(
            name: "GannetTestKit", dependencies: ["CEpoll", "COpenSSL", "CZlib", "CBrotliEncoder", "CZstd", "HTTPEngine", "GannetBasics"],
            path: "Tests/GannetTestKit", resources: [.embedInCode("Redis/clock-shim.c")], swiftSettings: settings),

        .testTarget(name: "GannetBasicsTests", dependencies: ["GannetBasics", "GannetTestKit"], swiftSettings: settings),
        .testTarget(name: "GannetTestKitTests", dependencies: ["GannetTestKit", "RedisClient"], swiftSettings: settings),
        .testTarget(name: "RedisClientTests", dependencies: ["RedisClient", "GannetBasics", "GannetTestKit"], swiftSettings: settings),
        .testTarget(
            name: "ClusterStateTests", dependencies: ["ClusterState", "RedisClient", "GannetBasics", "GannetTestKit", "StateWorker"],
            swiftSettings: settings),
        // A process that holds leases until it is killed.
        .executableTarget(
            name: "StateWorker", dependencies: ["ClusterState", "RedisClient"], path: "Tests/StateWorker", swiftSettings: settings),
        .testTarget(
            name: "GannetTests",
            dependencies: [
                "Gannet", "BodyStores", "FetchCache", "HTTPCaching", "ClusterState", "HTTPEngine", "RedisClient", "GannetBasics",
                "GannetTestKit",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "BodyStoresTests",
            dependencies: [
                "BodyStores", "Archives", "ClusterState", "HTTPEngine", "ThumbnailMessages", "Thumbnails", "GannetBasics", "GannetTestKit",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ArchivesTests", dependencies: ["Archives", "ArchiveWriter", "GannetBasics", "GannetTestKit"], swiftSettings: settings),
        // A process that writes archives until it is killed.
        .executableTarget(
            name: "ArchiveWriter", dependencies: ["Archives", "COpenSSL", "GannetBasics"], path: "Tests/ArchiveWriter",
            swiftSettings: settings),
        .testTarget(
            name: "HTTPEngineTests", dependencies: ["HTTPEngine", "CCurl", "GannetBasics", "GannetTestKit"], exclude: ["URL/Suites"],
            swiftSettings: settings),
        // Made-up inputs for the parsers of foreign data, for as long as one likes. Scripts/fuzz runs them.
        .systemLibrary(name: "CLibFuzzer", path: "Tests/CLibFuzzer"),
        .executableTarget(
            name: "FuzzTargets",
            dependencies: [
                "RedisClient", "ClusterState", "BodyStores", "Archives", "HTTPEngine", "HTTPCaching", "FetchCache", "GannetRedis",
                "HTTPService", "GannetServer", "GannetPictures", "ThumbnailMessages", "Thumbnails", "ImageProbe", "SiteRules", "URLLists",
                "Gannet", "GannetBasics", "GannetTestKit", "CLibFuzzer",
            ],
            path: "Tests/FuzzTargets",
            exclude: ["Dictionaries"], swiftSettings: settings),
        .testTarget(name: "FuzzTargetsTests", dependencies: ["FuzzTargets", "GannetTestKit"], swiftSettings: settings),
        // The evil origin of the test kit, for a person with a client of their own.
        .executableTarget(name: "EvilServer", dependencies: ["GannetTestKit"], path: "Tests/EvilServer", swiftSettings: settings),
        .testTarget(
            name: "ImageProbeTests", dependencies: ["ImageProbe", "GannetTestKit"], exclude: ["Samples"], swiftSettings: settings),
        .testTarget(
            name: "SiteRulesTests", dependencies: ["SiteRules", "GannetTestKit"], exclude: ["Comparison"], swiftSettings: settings),
        // Verdicts of SiteRules, for a comparison with another parser (Scripts/check robots).
        .executableTarget(name: "RobotsVerdicts", dependencies: ["SiteRules"], path: "Tests/RobotsVerdicts", swiftSettings: settings),
        .testTarget(
            name: "HTTPCachingTests", dependencies: ["HTTPCaching", "HTTPEngine", "GannetBasics", "GannetTestKit"], swiftSettings: settings),
        .testTarget(
            name: "FetchCacheTests",
            dependencies: ["FetchCache", "HTTPCaching", "HTTPEngine", "GannetBasics", "GannetTestKit", "DiskWriter"],
            swiftSettings: settings),
        // A process that writes to a cache folder until it is killed.
        .executableTarget(
            name: "DiskWriter", dependencies: ["FetchCache", "HTTPEngine"], path: "Tests/DiskWriter", swiftSettings: settings),
        .testTarget(
            name: "GannetFetchTests",
            dependencies: [
                "GannetFetch", "FetchCache", "HTTPEngine", "GannetBasics", "GannetTestKit", "ReadmeProgram",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "GannetRedisTests",
            dependencies: ["GannetRedis", "GannetFetch", "FetchCache", "HTTPEngine", "ClusterState", "GannetTestKit", "FetchProcess"],
            swiftSettings: settings),
        // A process that fetches as a library's user would, until it is killed.
        .executableTarget(
            name: "FetchProcess", dependencies: ["GannetFetch", "GannetRedis"], path: "Tests/FetchProcess", swiftSettings: settings),
        // A cache between clients and an origin, made of the library, for a suite that judges such caches (Scripts/cache-cases).
        .executableTarget(
            name: "CacheProxy", dependencies: ["GannetFetch", "FetchCache", "HTTPEngine", "GannetBasics"], path: "Tests/CacheProxy",
            swiftSettings: settings),
        .testTarget(
            name: "GannetPicturesTests", dependencies: ["GannetPictures", "GannetFetch", "GannetTestKit", "FavouritesWriter"],
            swiftSettings: settings),
        // A process that changes a file of favourites until it is killed.
        .executableTarget(
            name: "FavouritesWriter", dependencies: ["GannetPictures"], path: "Tests/FavouritesWriter", swiftSettings: settings),
        // The program that the README shows.
        .executableTarget(name: "ReadmeProgram", dependencies: ["GannetFetch"], path: "Tests/ReadmeProgram", swiftSettings: settings),
        .testTarget(name: "CommandLineKitTests", dependencies: ["CommandLineKit"], swiftSettings: settings),
        .testTarget(
            name: "GannetServerTests",
            dependencies: [
                "GannetServer", "Gannet", "HTTPService", "HTTPCaching", "HTTPEngine", "ClusterState", "RedisClient", "ThumbnailMessages",
                "Thumbnails", "BodyStores", "GannetTestKit",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "HTTPServiceTests", dependencies: ["HTTPService", "GannetBasics", "HTTPEngine", "GannetTestKit"], swiftSettings: settings),
        .testTarget(
            name: "ThumbnailsTests", dependencies: ["Thumbnails", "ThumbnailMessages", "ImageProbe", "GannetBasics", "GannetTestKit"],
            exclude: ["Comparison"], swiftSettings: settings),
        .testTarget(
            name: "TablesTests", dependencies: ["Tables", "URLLists", "GannetBasics", "GannetTestKit"],
            exclude: ["requirements.txt"], swiftSettings: settings),
        .testTarget(name: "URLListsTests", dependencies: ["URLLists", "GannetTestKit"], swiftSettings: settings),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "GannetCommand", "Gannet", "Archives", "ClusterState", "CommandLineKit", "GannetBasics", "GannetTestKit", "ImageProbe",
                "URLLists", "Tables",
            ],
            swiftSettings: settings),
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
        // Tries in the sandbox what a process does that a picture has taken over.
        .executableTarget(
            name: "SandboxBreaker", dependencies: ["ThumbnailSandbox"], path: "Tests/SandboxBreaker", swiftSettings: settings),
        // Sizes of pictures that gannet-thumbnail makes, for a comparison with img2dataset (Scripts/check pictures).
        .executableTarget(
            name: "PictureSizes", dependencies: ["Thumbnails", "ThumbnailMessages"], path: "Tests/PictureSizes", swiftSettings: settings),
    ]
    package.targets.first { $0.name == "ThumbnailsTests" }?.dependencies += ["GannetThumbnail", "SandboxBreaker"]
}

// An image is built from what the program needs (Dockerfile), without the folders of tests and measurements.
if Context.environment["GANNET_PRODUCTS_ONLY"] != nil {
    package.targets.removeAll { $0.type == .test || $0.path != nil }
}
