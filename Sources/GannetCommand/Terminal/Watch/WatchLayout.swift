/// How the rows of a screen are shared out among charts and tables.
struct WatchLayout: Sendable, Equatable {
    let throughputRows: Int
    let depthRows: Int

    /// Rows of tables, without their titles; none where there is no room for the table.
    let workers: Int
    let hosts: Int

    /// Columns of the charts, and the time that each stands for.
    let steps: Int
    let step: Duration

    /// A table takes an empty row and its titles as well.
    private static let aroundTable = 2

    /// No further back than what is kept.
    private static let longest = Duration.seconds(900)

    /// - Parameters:
    ///   - rows: Those that are left for all this.
    ///   - workers: How many there are; as for `hosts`.
    ///   - past: How far back something is known.
    init(rows: Int, workers: Int, hosts: Int, columns: Int, past: Duration) {
        throughputRows = rows >= 35 ? 8 : rows >= 17 ? 4 : rows >= 10 ? 2 : 0
        depthRows = throughputRows / 2
        var left = rows - [throughputRows, depthRows].reduce(0) { $0 + ($1 > 0 ? $1 + 1 : 0) }

        // Hosts get what workers leave, and some rows in any case.
        let fewHosts = min(hosts, 3)
        let hasBoth = hosts > 0 && left >= 2 * Self.aroundTable + 2
        let keptForHosts = hasBoth ? fewHosts + Self.aroundTable : 0
        self.workers = max(0, min(workers, left - keptForHosts - Self.aroundTable))
        left -= self.workers > 0 ? self.workers + Self.aroundTable : 0
        self.hosts = max(0, min(hosts, left - Self.aroundTable))

        // As fine as what is known, unless that reaches further back than there are columns for.
        let finest = Duration.seconds(5)
        step = finest * columns < min(past, Self.longest) ? finest * 2 : finest
        steps = min(columns, Int(Self.longest / step))
    }

    var minutes: Int { max(1, Int((step * steps / .seconds(60)).rounded())) }
}
