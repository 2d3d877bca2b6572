internal import GannetBase
internal import GannetHTTP

/// The window: the page at `/`, and the files that it loads. They are the same for everybody, and hold no data of the cluster.
extension Gateway {
    static var pageEndpoints: [Endpoint] {
        let name = Parameter("name", in: .path, "A file of the page.")
        return [
            Endpoint(
                method: "GET", path: "/", summary: "The window: how the queues stand, for people.",
                hasEffects: false, isOpen: true, hasOwnQuery: true, answers: [200: ["text/html"], 304: []],
                reply: { request throws(Problem) in try page("index.html", request) }),
            Endpoint(
                method: "GET", path: "/window/{name}", summary: "A file of the window.", parameters: [name], hasEffects: false,
                isOpen: true, answers: [200: ["text/css", "text/javascript", "image/svg+xml"], 304: []],
                reply: { request throws(Problem) in try page(request.items.required("name"), request) }),
        ]
    }

    /// The files of the folder `Window`, which are part of the program.
    private static let files: [String: [UInt8]] = [
        "address.js": PackageResources.address_js,
        "api.js": PackageResources.api_js,
        "batches.js": PackageResources.batches_js,
        "cell.js": PackageResources.cell_js,
        "charts.js": PackageResources.charts_js,
        "dialog.js": PackageResources.dialog_js,
        "elements.js": PackageResources.elements_js,
        "gallery.js": PackageResources.gallery_js,
        "icon.svg": PackageResources.icon_svg,
        "index.html": PackageResources.index_html,
        "job.js": PackageResources.job_js,
        "jobs.js": PackageResources.jobs_js,
        "layout.js": PackageResources.layout_js,
        "main.js": PackageResources.main_js,
        "overview.js": PackageResources.overview_js,
        "pages.js": PackageResources.pages_js,
        "picture.js": PackageResources.picture_js,
        "style.css": PackageResources.style_css,
        "words.js": PackageResources.words_js,
    ]

    private static func type(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "text/javascript; charset=utf-8"
        }
    }

    /// Nothing from elsewhere, and no script or style within the page.
    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        + "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

    private static func page(_ name: String, _ request: EndpointRequest) throws(Problem) -> HTTPServiceReply {
        guard let file = files[name] else { throw .notFound }
        let tag = EntityTag(Array("\"\(SHA256Digest(of: file))\"".utf8))
        let headers = [
            // The next version of the program has other files under the same names.
            (name: "Cache-Control", value: "no-cache"), (name: "ETag", value: tag?.text ?? ""),
            (name: "Content-Security-Policy", value: policy), (name: "X-Content-Type-Options", value: "nosniff"),
            (name: "Referrer-Policy", value: "no-referrer"), (name: "Cross-Origin-Opener-Policy", value: "same-origin"),
            (name: "Cross-Origin-Resource-Policy", value: "same-origin"),
        ]
        if ClientConditions(request.request).isCurrent(tag, lastModified: nil, now: 0) {
            return .now(HTTPServiceAnswer(status: 304, headers: headers))
        }
        return .now(HTTPServiceAnswer(headers: [(name: "Content-Type", value: type(of: name))] + headers, body: .bytes(file)))
    }
}
