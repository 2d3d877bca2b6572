// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "PictureList",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "gannet", path: "../..")],
    targets: [
        .target(name: "PictureList", dependencies: [.product(name: "GannetFetch", package: "gannet")]),
        .executableTarget(name: "pictures", dependencies: ["PictureList"]),
        .testTarget(name: "PictureListTests", dependencies: ["PictureList"]),
    ]
)
