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
        print "| work | beside | rate | CPU |"
        print "| --- | --- | --- | --- |"
    }
    printf "| %s | %s | %s× | %s× |\n", work, peer, short(speed), short(time)
}

BEGIN { FS = "|" }

/^## / { section = substr($0, 4) }

section == "The program's whole path" && cell(2) == "1 host" && cell(3) == "1" && $0 ~ /curl|\/s/ && !path++ {
    row("pages into Redis", "`curl -Z`", cell(7), cell(10))
}
section == "Files in a folder" {
    if (cell(2) == "`curl -Z` to files") contest("files", "`curl -Z`")
    if (cell(2) == "aria2c") contest("files", "aria2")
}
section == "Images, beside img2dataset" && cell(2) == "img2dataset" { contest("images", "img2dataset") }
section == "Pages, beside scrapy-redis" && cell(2) == "scrapy-redis" { contest("pages into Redis", "scrapy-redis") }
section == "Jobs with nothing to fetch" && cell(2) == "Sidekiq" { contest("known jobs", "Sidekiq") }
