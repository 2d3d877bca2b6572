/// The files of the folder `Window`, which are part of the program.
enum WindowFiles {
    static let all: [(name: String, bytes: [UInt8])] = [
        ("address.js", PackageResources.address_js),
        ("api.js", PackageResources.api_js),
        ("batches.js", PackageResources.batches_js),
        ("cell.js", PackageResources.cell_js),
        ("charts.js", PackageResources.charts_js),
        ("dialog.js", PackageResources.dialog_js),
        ("elements.js", PackageResources.elements_js),
        ("gallery.js", PackageResources.gallery_js),
        ("icon.svg", PackageResources.icon_svg),
        ("index.html", PackageResources.index_html),
        ("job.js", PackageResources.job_js),
        ("jobs.js", PackageResources.jobs_js),
        ("layout.js", PackageResources.layout_js),
        ("main.js", PackageResources.main_js),
        ("overview.js", PackageResources.overview_js),
        ("pages.js", PackageResources.pages_js),
        ("picture.js", PackageResources.picture_js),
        ("style.css", PackageResources.style_css),
        ("words.js", PackageResources.words_js),
    ]
}
