// swift-tools-version: 6.0
import PackageDescription

// Made-up inputs for the parsers of foreign data, for as long as one likes. `Scripts/fuzz` builds and runs them. Benchmarks/Package.swift says
// why this is a package of its own, and what its flag is for.
let folder = Context.packageDirectory.split(separator: "/").dropLast().last.map(String.init) ?? "gannet"
let packageName = String(folder.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "_" })
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .unsafeFlags(["-package-name", packageName]),
]

let package = Package(
    name: "fuzz",
    dependencies: [.package(name: "gannet", path: "..")],
    targets: [
        .systemLibrary(name: "CLibFuzzer", path: "CLibFuzzer"),
        .executableTarget(
            name: "FuzzTargets", dependencies: ["CLibFuzzer", .product(name: "GannetParts", package: "gannet")], path: "FuzzTargets",
            exclude: ["Dictionaries"], packageAccess: false, swiftSettings: settings),
        .testTarget(
            name: "SeedTests", dependencies: ["FuzzTargets", .product(name: "GannetParts", package: "gannet")], path: "SeedTests",
            packageAccess: false, swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
