// swift-tools-version: 6.0
import Glibc
import PackageDescription

// This file decides which target may import which. `Scripts/check imports` checks the sources.
// Warnings are errors on the command line of our own builds, never as a flag here: SwiftPM refuses dependants of a
// package with unsafe flags.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func room(_ name: String, _ parts: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: parts + ["GannetTestKit"], path: "Tests/\(name)Tests", exclude: exclude,
        swiftSettings: settings)
}

let package = Package(
    name: "gannet",
    products: [
        .executable(name: "gannet", targets: ["GannetCommand"]),
        .library(name: "GannetFetch", targets: ["GannetFetch"]),
        .library(name: "GannetRedis", targets: ["GannetRedis"]),
    ],
    targets: [
        // C libraries of the system. Their types stay inside the one or two targets that import them.
        .systemLibrary(name: "CHiredis", providers: [.apt(["libhiredis-dev"])]),
        .systemLibrary(name: "COpenSSL", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CUnistring", providers: [.apt(["libunistring-dev"])]),
        .systemLibrary(name: "CEpoll"),
        .systemLibrary(name: "CMalloc"),
        .systemLibrary(name: "CAres", providers: [.apt(["libc-ares-dev"])]),
        .systemLibrary(name: "CMicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CBrotli", providers: [.apt(["libbrotli-dev"])]),
        // For tests, which need something to decode.
        .systemLibrary(name: "CBrotliEncoder", providers: [.apt(["libbrotli-dev"])]),
        .systemLibrary(name: "CArchive", providers: [.apt(["libarchive-dev"])]),
        .systemLibrary(name: "CZstd", providers: [.apt(["libzstd-dev"])]),

        // The rooms, from the ground floor up: a target imports only from those above it.
        // Bytes, threads, locks, JSON, time and child processes: the parts that more than one room needs.
        .target(name: "GannetBase", dependencies: ["CZlib"], path: "Sources/Base", swiftSettings: settings),
        // Connections to Redis: one server, a cluster, Sentinel.
        .target(
            name: "GannetRedisClient", dependencies: ["CHiredis", "COpenSSL", "GannetBase"], path: "Sources/Redis",
            swiftSettings: settings),
        // The state of the fleet in Redis: each key, format and script as typed calls.
        .target(
            name: "GannetQueue", dependencies: ["GannetRedisClient", "GannetBase"], path: "Sources/Queue",
            resources: [.embedInCode("Scripts")], swiftSettings: settings),
        // Fetching, which knows nothing of Redis: libcurl, names, addresses, bodies; how long an answer may be used; robots.txt.
        .target(
            name: "GannetHTTP", dependencies: ["CCurl", "CUnistring", "CEpoll", "COpenSSL", "CAres", "CBrotli", "CZstd", "GannetBase"],
            path: "Sources/HTTP", swiftSettings: settings),
        // The format and size of a picture by its bytes, and the messages to the program that makes thumbnails. Its sandbox links nothing else.
        .target(name: "GannetPictures", path: "Sources/Pictures", swiftSettings: settings),
        // The library for Swift programs: shared fetches, tiers in memory and on disk, lists of pictures.
        .target(name: "GannetFetch", dependencies: ["GannetHTTP", "GannetPictures", "GannetBase"], swiftSettings: settings),
        // The library's shared tier in Redis.
        .target(
            name: "GannetRedis", dependencies: ["GannetRedisClient", "GannetQueue", "GannetHTTP", "GannetFetch", "GannetBase"],
            swiftSettings: settings),
        // Lists of URLs as people have them: bytes in, rows out.
        .target(name: "Lists", dependencies: ["GannetBase"], resources: [.embedInCode("Tables/Scripts")], swiftSettings: settings),
        // Where bodies go, and how a run records them: folders, Redis, archives, datasets, thumbnails.
        .target(
            name: "Results",
            dependencies: [
                "CArchive", "CZlib", "GannetRedisClient", "GannetQueue", "GannetHTTP", "GannetPictures", "GannetFetch", "Lists",
                "GannetBase",
            ],
            swiftSettings: settings),
        // Where fetching and the queue meet: the producer and the worker.
        .target(
            name: "Crawl",
            dependencies: [
                "GannetRedisClient", "GannetQueue", "GannetHTTP", "GannetFetch", "GannetRedis", "Lists", "Results", "GannetBase",
            ],
            swiftSettings: settings),
        // A small HTTP server, the gateway that answers clients that want a URL now, and the window.
        .target(
            name: "Server",
            dependencies: [
                "CMicrohttpd", "CEpoll", "GannetQueue", "GannetHTTP", "GannetPictures", "GannetFetch", "Results", "Lists", "Crawl",
                "GannetBase",
            ],
            resources: [.embedInCode("Window")], swiftSettings: settings),
        // The program.
        .executableTarget(
            name: "GannetCommand",
            dependencies: [
                "CMalloc",
                "GannetRedisClient", "GannetQueue", "GannetHTTP", "GannetRedis", "GannetPictures", "Results", "Lists", "Crawl", "Server",
                "GannetBase",
            ],
            swiftSettings: settings),

        // Real servers for tests: Redis with a clock of its own, origins.
        .target(
            name: "GannetTestKit", dependencies: ["CEpoll", "COpenSSL", "CZlib", "CBrotliEncoder", "CZstd", "GannetHTTP", "GannetBase"],
            path: "Tests/GannetTestKit", resources: [.embedInCode("Redis/clock-shim.c")], swiftSettings: settings),
        // The processes that tests and checks start, often to kill them: one program with a word for each.
        .executableTarget(
            name: "TestHelper",
            dependencies: [
                "GannetRedisClient", "GannetQueue", "GannetHTTP", "GannetPictures", "GannetFetch", "GannetRedis", "Results", "Crawl",
                "GannetBase", "GannetTestKit",
            ],
            path: "Tests/Helper", swiftSettings: settings),

        // The tests of each room.
        room("Base", ["GannetBase"]),
        room("TestKit", ["GannetRedisClient"]),
        room("Redis", ["GannetRedisClient", "GannetBase"]),
        room("Queue", ["GannetQueue", "GannetRedisClient", "GannetBase", "TestHelper"]),
        room("HTTP", ["GannetHTTP", "CCurl", "GannetBase"], exclude: ["URL/Suites", "Sites/Comparison"]),
        room("Picture", ["GannetPictures", "Results", "GannetBase", "TestHelper"], exclude: ["Probe/Samples", "Thumbnails/Comparison"]),
        room("Fetch", ["GannetFetch", "GannetRedis", "GannetRedisClient", "GannetHTTP", "GannetQueue", "GannetBase", "TestHelper"]),
        room("Result", ["Results", "Lists", "GannetQueue", "GannetHTTP", "GannetPictures", "GannetBase", "TestHelper"]),
        room("List", ["Lists", "GannetBase"], exclude: ["Tables/requirements.txt"]),
        room(
            "Crawl",
            [
                "Crawl", "Results", "Lists", "GannetRedis", "GannetFetch", "GannetQueue", "GannetHTTP", "GannetRedisClient", "GannetBase",
                "TestHelper",
            ]),
        room(
            "Server",
            [
                "Server", "Crawl", "Results", "Lists", "GannetFetch", "GannetPictures", "GannetQueue", "GannetHTTP", "GannetRedisClient",
                "GannetBase",
            ]),
        room("Command", ["GannetCommand", "Crawl", "Results", "Lists", "GannetPictures", "GannetQueue", "GannetHTTP", "GannetBase"]),
    ],
    swiftLanguageModes: [.v6]
)

// `gannet-thumbnail` is made where libvips and libseccomp are (Debian: libvips-dev, libseccomp-dev). All else builds without
// them. GANNET_THUMBNAIL=yes or no decides in their place: SwiftPM does not look again after they were installed.
let hasVips = access("/usr/include/vips/vips.h", R_OK) == 0 && access("/usr/include/seccomp.h", R_OK) == 0
if Context.environment["GANNET_THUMBNAIL"].map({ $0 == "yes" }) ?? hasVips {
    package.products.append(.executable(name: "gannet-thumbnail", targets: ["GannetThumbnail"]))
    package.targets += [
        .systemLibrary(name: "CVips", providers: [.apt(["libvips-dev"])]),
        .systemLibrary(name: "CSeccomp", providers: [.apt(["libseccomp-dev"])]),
        .executableTarget(name: "GannetThumbnail", dependencies: ["CVips", "CSeccomp", "GannetPictures"], swiftSettings: settings),
    ]
    for target in package.targets {
        switch target.name {
        case "PictureTests", "ServerTests", "CommandTests": target.dependencies.append("GannetThumbnail")
        case "TestHelper":
            target.dependencies.append("CSeccomp")
            target.swiftSettings?.append(.define("SANDBOX"))
        default: break
        }
    }
} else {
    package.targets.first { $0.name == "TestHelper" }?.exclude.append("Sandbox")
}

// An image is built from what the program needs (Dockerfile), without the folders of tests and measurements.
if Context.environment["GANNET_PRODUCTS_ONLY"] != nil {
    package.targets.removeAll { $0.type == .test || $0.path?.hasPrefix("Tests/") == true }
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
