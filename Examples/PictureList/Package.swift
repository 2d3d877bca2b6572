// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "PictureList",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "gannet", path: "../..")],
    targets: [
        .target(name: "PictureTerminal", dependencies: [.product(name: "GannetPictures", package: "gannet")]),
        .executableTarget(name: "pictures", dependencies: ["PictureTerminal"]),
        .testTarget(name: "PictureTerminalTests", dependencies: ["PictureTerminal"]),
    ]
)
