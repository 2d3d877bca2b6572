# Reads the page of all tables and prints what each goal wants beside what this run has.
#
#   awk -f Benchmarks/goals.awk Benchmarks/RESULTS.md

# The text of a cell, by the name of its column.
function cell(column) { return cells[columns[column]] }

# The number that a text begins with, whatever follows it.
function number(text) {
    gsub(/[^0-9.].*$/, "", text)
    return text + 0
}

# The same of a number whose digits are grouped by commas.
function plain(text) {
    gsub(/,/, "", text)
    return number(text)
}

function goal(work, wanted, found, isReached) {
    rows[++count] = "| " work " | " wanted " | " found " | " (isReached ? "yes" : "**no**") " |"
}

function least(work, bound, found, unit) { goal(work, "≥ " bound unit, found unit, found >= bound) }

function most(work, bound, found, unit) { goal(work, "≤ " bound unit, found unit, found <= bound) }

/^## / { section = substr($0, 4) }

!/^\|/ {
    isTable = 0
    if ($0 != "") caption = $0
    next
}

{
    split("", cells)
    size = split($0, raw, / *\| */)
    for (i = 2; i < size; i++) cells[i - 1] = raw[i]
    if (!isTable) {
        isTable = 1
        split("", columns)
        for (i in cells) columns[cells[i]] = i
        next
    }
    if (cells[1] ~ /^---/) next
}

section == "The program's whole path" && "gannet / `curl -Z`" in columns {
    if (cell("origin") == "1 host" && cell("workers") == "1") {
        least("10 KB from a queue into Redis, 64 in flight, rate beside `curl -Z`", 0.75, number(cell("gannet / `curl -Z`")), " ×")
        most("a worker's processor time for each there, beside curl's", 1.3, number(cell("worker / curl")), " ×")
    }
    if (cell("origin") ~ /1,000 places/) most("1,000 places of 10 KB, a worker's memory", 64, number(cell("a worker's memory")), " MB")
}
section == "The program's whole path" && "`LMOVE`+`SET`+`LPOP`" in columns && cell("origin") == "1 host" && cell("workers") == "1" {
    most("Redis' processor time for each there, beside `LMOVE`+`SET`+`LPOP`", 6, number(cell("ratio")), " ×")
}
section == "The program's whole path" && "of the possible" in columns && cell("origin") ~ /64 places/ {
    # The column comes twice, first for gannet.
    least("an origin of 50 ms, 64 places, of the possible rate", 0.97, number(cells[3]), "")
}
section == "Files in a folder" && cell("program") ~ /^`curl -Z` to `?\/dev\/null/ {
    least("10 KB to files, an origin of 50 ms, rate beside `curl -Z` to /dev/null", 0.95, number(cell("gannet / this")), " ×")
}
section == "Jobs with nothing to fetch" && cell("program") == "Sidekiq" {
    least("jobs with nothing to fetch, rate beside Sidekiq", 5, number(cell("gannet / this")), " ×")
}
section == "Images, beside img2dataset" && cell("program") == "img2dataset" {
    least("images, rate beside img2dataset", 8, number(cell("gannet / this")), " ×")
}
section == "Pages, beside scrapy-redis" && cell("program") == "scrapy-redis" {
    least("pages, rate beside scrapy-redis", 25, number(cell("gannet / this")), " ×")
}
section == "Lists on their way into the queue" && cell("program") == "gannet enqueue" {
    goal("`enqueue` of a million URLs", "≥ 500,000/s", cell("a second: median (lowest to highest)"), plain(cell("a second: median (lowest to highest)")) >= 500000)
    goal("`enqueue`, processor time for a URL", "≤ 2 µs", cell("CPU for each"), cell("CPU for each") ~ /µs/ && number(cell("CPU for each")) <= 2)
}
section == "Idle workers" && "p50" in columns { goal("from `enqueue` to the request on the wire, p50", "≤ 2 ms", cell("p50"), cell("p50") ~ /µs/ || number(cell("p50")) <= 2) }
section == "Idle workers" && cell("worker") == "gannet work" {
    most("an idle worker, of a core", 0.5, number(cell("median (lowest to highest)")), " %")
}
section == "The gateway" && cell("program") == "nginx proxy_cache" {
    least("the gateway's kept answers" (caption ~ /one URL/ ? ", one URL" : ", 1,000 URLs") ", rate beside nginx' `proxy_cache`", 0.5, number(cell("gannet / this")), " ×")
}
section == "The HTTP engine" && "gannet / curl -Z" in columns {
    if (cell("body") == "1m" && cell("in flight") == "64" && caption ~ /^HTTP\/1.1/) {
        least("the engine, bodies of 1 MB, 64 in flight, rate beside `curl -Z`", 0.95, number(cell("gannet / curl -Z")), " ×")
    }
    if (cell("body") == "10k" && cell("in flight") == "2,048") {
        least("the engine, 2,048 in flight, " (caption ~ /^HTTP\/1.1/ ? "HTTP/1.1" : "HTTP/2") ", rate beside `curl -Z`", 1, number(cell("gannet / curl -Z")), " ×")
    }
}
section == "The state in Redis" && "jobs a call" in columns && cell("hosts") == "1" && cell("jobs a call") == "8" {
    most("Redis' processor time for each of 8 jobs in an exchange, beside as many of a bare queue in a pipeline", 6, number(cell("ratio")), " ×")
}
section == "Growth" && "`status`" in columns {
    if (!first) first = cell("`status`")
    last = cell("`status`")
    waiting = cell("waiting")
}

END {
    if (first) goal("`status` with 1,000 and " waiting " jobs waiting", "the same", first " and " last, number(last) <= 1.5 * number(first))
    print "| work | goal | this run | reached |"
    print "| --- | --- | --- | --- |"
    for (i = 1; i <= count; i++) print rows[i]
}
