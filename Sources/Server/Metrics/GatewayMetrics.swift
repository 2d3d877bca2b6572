internal import Crawl
internal import GannetBase
internal import GannetFetch
internal import GannetHTTP
internal import Results

/// `/metrics`: what a gateway has done since it began, for Prometheus.
extension Gateway {
    var metricsEndpoint: Endpoint {
        Endpoint(
            method: "GET", path: "/metrics", summary: "Figures of this server for Prometheus.", hasEffects: false,
            answers: [200: ["text/plain"]], reply: { _ in .now(HTTPServiceAnswer(metrics, type: MetricsText.contentType)) })
    }

    private var metrics: String {
        var page = MetricsText()
        page.add("gannet_gateway_info", .gauge, "Which version serves.", 1, [("version", Version.current)])
        page.add(counts)
        page.add(service.values)
        page.add("gannet_gateway_thumbnail_programs", .gauge, "Programs that make thumbnails, at work or idle.", pool.programs)
        page.add(fetch.statistics, memoryLimit: fetch.memoryLimit)
        page.add(settings.room)
        page.add(ProcessFigures.current)
        return page.text
    }
}

extension MetricsText {
    fileprivate mutating func add(_ counts: GatewayCounts) {
        for subject in GatewayCounts.Subject.allCases {
            let (name, labels, help) = subject.metric
            let values = counts.values(of: subject).sorted { $0.key.lexicographicallyPrecedes($1.key) }
            let samples: [(labels: Labels, value: Int)] = values.map { key, count in
                (labels: zip(labels, key).map { (name: $0, value: $1) }, value: count)
            }
            add("gannet_gateway_\(name)_total", .counter, help, samples)
        }
    }

    fileprivate mutating func add(_ service: HTTPServiceCounts.Values) {
        add("gannet_gateway_in_flight", .gauge, "Requests that are read, wait for their answer, or are being sent it.", service.requests)
        add(
            "gannet_gateway_departed_total", .counter, "Requests whose client left before their answer began.", service.departed)
        add("gannet_gateway_sent_bytes_total", .counter, "Bytes of bodies that were sent to clients.", service.bodyBytes)
        add("gannet_gateway_connections", .gauge, "Open connections of clients.", service.connections)
        add("gannet_gateway_accepted_connections_total", .counter, "Connections that were accepted.", service.accepted)
        add(
            "gannet_gateway_refused_connections_total", .counter,
            "Connections that were refused because their address had its share of them, or all were at work.", service.refused)
        add(
            "gannet_gateway_closed_connections_total", .counter,
            "Connections that were closed because they sent no request for too long, or made room for others.", service.closedIdle)
    }

    fileprivate mutating func add(_ room: BodyRoom) {
        add("gannet_gateway_bodies_under_way_bytes", .gauge, "Memory of bodies on their way from origins and to clients.", room.used)
        add("gannet_gateway_bodies_under_way_limit_bytes", .gauge, "The most memory that bodies on their way may take.", room.limit)
        add(
            "gannet_gateway_bodies_refused_total", .counter, "Bodies for which there was no such memory: their clients got 503.",
            room.refused)
    }

    fileprivate mutating func add(_ fetches: FetchStatistics, memoryLimit: Int) {
        add("gannet_gateway_memory_bytes", .gauge, "Memory that kept answers take.", Int(fetches.memory.cost))
        add("gannet_gateway_memory_limit_bytes", .gauge, "The most memory that kept answers may take.", memoryLimit)
        add("gannet_gateway_memory_entries", .gauge, "Answers in memory.", fetches.memory.entries)
        add(
            "gannet_gateway_memory_evictions_total", .counter, "Answers in memory that made room for others.", fetches.memory.evictions)
        add(
            "gannet_gateway_fetches_total", .counter,
            "Fetches that found an answer, by its place. All clients that want a URL at the same time share one.",
            [
                (labels: [("source", "redis")], value: fetches.sharedHits), (labels: [("source", "origin")], value: fetches.downloads),
                (labels: [("source", "revalidated")], value: fetches.revalidations),
            ])
        add("gannet_gateway_fetched_bytes_total", .counter, "Bytes of bodies that were fetched from origins.", Int(fetches.bytes))
        add("gannet_gateway_failed_attempts_total", .counter, "Attempts at origins that failed.", fetches.failures)
        add("gannet_gateway_retries_total", .counter, "Attempts that followed a failed one.", fetches.retries)
        add(
            "gannet_gateway_remembered_failures_total", .counter, "Clients that heard of an earlier failure, without another request.",
            fetches.failuresServed)
        add(
            "gannet_gateway_redis_unavailable_total", .counter,
            "How often Redis could not be reached. The fetch went on without it, or its answer was not shared.", fetches.sharedUnavailable)
        add("gannet_gateway_redis_refused_total", .counter, "Answers that Redis had no room for.", fetches.sharedRefused)
        add(
            "gannet_gateway_locks_lost_total", .counter, "Fetches that ended because another process had taken the URL's lock over.",
            fetches.locksLost)
        add(
            "gannet_gateway_fenced_total", .counter, "Fetches whose URL another process had fetched as well.", fetches.fenced)
    }
}
