# Reads RESULTS.md and prints README's table: a row for each peer that people compare gannet with.
#
#   awk -f Benchmarks/summary.awk Benchmarks/RESULTS.md

function cell(number) {
    gsub(/^ +| +$/, "", $number)
    return $number
}

# A row of a contest: | program | count | rate | gannet / this | CPU | this / gannet | …
function contest(work, peer) {
    row(work, peer, cell(5), cell(7) > 0 ? 1 / cell(7) : 0)
}

# Two digits that count.
function short(value) { return sprintf((value += 0) < 1 ? "%.2g" : value < 10 ? "%.1f" : "%.0f", value) }

function row(work, peer, speed, time) {
    if (!count++) {
        print "| work | beside | gannet's rate is | its processor time is |"
        print "| --- | --- | --- | --- |"
    }
    printf "| %s | %s | %s × | %s × |\n", work, peer, short(speed), short(time)
}

BEGIN { FS = "|" }

/^## / { section = substr($0, 4) }

section == "The program's whole path" && cell(2) == "1 host" && cell(3) == "1" && $0 ~ /curl|\/s/ && !path++ {
    row("a queue of pages of 10 KB into Redis", "`curl -Z`, which keeps nothing", cell(7), cell(10))
}
section == "Files in a folder" {
    if (cell(2) == "`curl -Z` to files") contest("10 KB to files, an origin of 50 ms", "`curl -Z`")
    if (cell(2) == "aria2c") contest("10 KB to files, an origin of 50 ms", "aria2")
    if (cell(2) == "wget2") contest("10 KB to files, an origin of 50 ms", "wget2")
    if (cell(2) == "a program with aiohttp") contest("10 KB to files, an origin of 50 ms", "a program with aiohttp")
}
section == "Images, beside img2dataset" && cell(2) == "img2dataset" { contest("images of 20 KB to files", "img2dataset") }
section == "Pages, beside scrapy-redis" && cell(2) == "scrapy-redis" { contest("a queue of pages of 10 KB into Redis", "scrapy-redis") }
section == "Jobs with nothing to fetch" {
    if (cell(2) == "Sidekiq") contest("jobs with nothing to fetch", "Sidekiq")
    if (cell(2) == "RQ, `SimpleWorker`") contest("jobs with nothing to fetch", "RQ")
}
