// swift-tools-version: 6.0
import PackageDescription

// `Scripts/bench` builds and runs these programs. They are a package of their own, so that the tests' build has nothing of them. They use the
// parts of Gannet as Gannet's own targets do. `package` names are visible to targets that are compiled with the same package name, which
// SwiftPM takes from the folder's name.
let folder = Context.packageDirectory.split(separator: "/").dropLast().last.map(String.init) ?? "gannet"
let packageName = String(folder.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "_" })
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .unsafeFlags(["-package-name", packageName]),
]

func benchmark(_ name: String, exclude: [String] = []) -> Target {
    .executableTarget(
        name: name, dependencies: ["BenchmarkKit", .product(name: "GannetParts", package: "gannet")], path: name, exclude: exclude,
        packageAccess: false, swiftSettings: settings)
}

let package = Package(
    name: "benchmarks",
    dependencies: [.package(name: "gannet", path: "..")],
    targets: [
        .target(name: "BenchmarkKit", path: "BenchmarkKit", packageAccess: false, swiftSettings: settings),
        benchmark("RedisBenchmark"),
        benchmark("StateBenchmark"),
        benchmark("HTTPBenchmark"),
        benchmark("CacheBenchmark"),
        benchmark("ProductBenchmark", exclude: ["Peers"]),
        benchmark("WebBenchmark"),
    ],
    swiftLanguageModes: [.v6]
)
