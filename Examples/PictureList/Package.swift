// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "PictureList",
    dependencies: [.package(name: "gannet", path: "../..")],
    targets: [
        .target(name: "PictureTerminal", dependencies: [.product(name: "GannetFetch", package: "gannet")]),
        .executableTarget(name: "pictures", dependencies: ["PictureTerminal"]),
        .testTarget(name: "PictureTerminalTests", dependencies: ["PictureTerminal"]),
    ]
)
