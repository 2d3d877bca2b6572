# The floor plan: which target may import which. A target imports only from rows above its own.
#
# `Scripts/check imports` reads it with two inputs: first, with `describing` set, the targets as `swift package describe` prints
# them, then the sources. A target in Sources without a row here is an error, so that a new one gets its place in the picture.
# Tests may use any target of Sources, if Package.swift says that they do. Benchmarks and fuzz targets have packages of their own, and may use all.
BEGIN {
    allow("CHiredis", "")
    allow("COpenSSL", "")
    allow("CCurl", "")
    allow("CEpoll", "")
    allow("CAres", "")
    allow("CZlib", "")
    allow("CMicrohttpd", "")
    allow("CBrotli", "")
    allow("CBrotliEncoder", "")
    allow("CZstd", "")
    allow("CUnistring", "")
    allow("CArchive", "")
    allow("CVips", "")
    allow("CSeccomp", "")
    allow("GannetBasics", "CZlib")
    allow("RedisClient", "CHiredis COpenSSL GannetBasics")
    allow("ClusterState", "RedisClient GannetBasics")
    allow("HTTPEngine", "CCurl CUnistring CEpoll COpenSSL CAres CBrotli CZstd GannetBasics")
    allow("ImageProbe", "")
    allow("SiteRules", "")
    allow("ThumbnailMessages", "")
    allow("ThumbnailSandbox", "CSeccomp")
    allow("GannetThumbnail", "CVips ImageProbe ThumbnailMessages ThumbnailSandbox")
    allow("Thumbnails", "ThumbnailMessages ImageProbe GannetBasics")
    allow("HTTPCaching", "HTTPEngine GannetBasics")
    allow("FetchCache", "HTTPEngine HTTPCaching ImageProbe GannetBasics")
    allow("GannetFetch", "HTTPEngine HTTPCaching FetchCache ImageProbe GannetBasics")
    allow("GannetPictures", "GannetFetch GannetBasics")
    allow("GannetRedis", "RedisClient ClusterState HTTPEngine HTTPCaching FetchCache GannetFetch GannetBasics")
    allow("Archives", "CArchive CZlib GannetBasics")
    allow("BodyStores", "RedisClient ClusterState HTTPEngine FetchCache Archives ImageProbe ThumbnailMessages Thumbnails GannetBasics")
    allow("Gannet", "RedisClient ClusterState HTTPEngine HTTPCaching FetchCache GannetFetch GannetRedis BodyStores SiteRules GannetBasics")
    allow("CommandLineKit", "")
    allow("URLLists", "GannetBasics")
    allow("Tables", "GannetBasics")
    allow("HTTPService", "CMicrohttpd CEpoll GannetBasics")
    allow("GannetServer", "HTTPService Gannet GannetPictures BodyStores ClusterState FetchCache HTTPCaching HTTPEngine ImageProbe URLLists ThumbnailMessages Thumbnails GannetBasics")
    allow("GannetCommand", "Gannet GannetServer BodyStores ClusterState HTTPEngine CommandLineKit HTTPService GannetBasics URLLists Tables ThumbnailMessages Thumbnails")
}

function allow(target, modules,    names, i) {
    known[target] = 1
    for (i = split(modules, names, " "); i > 0; i--) {
        # So no circle is possible, and the list above reads from the ground floor up.
        if (!(names[i] in known)) problem("Scripts/imports.awk: " target " may not stand above " names[i] ", which it imports")
        may[target, names[i]] = 1
    }
}

function problem(sentence) {
    print sentence
    problems++
}

# The targets of the package.
describing {
    if ($0 ~ /^    Name: /) {
        target = $2
        section = ""
    } else if ($0 ~ /^    Path: /) {
        folder[$2] = target
        inSources[target] = $2 ~ /^Sources\//
        modules[target] = 1
        if (inSources[target] && !(target in known)) problem("Package.swift: the target " target " has no row in Scripts/imports.awk")
    } else if ($0 ~ /^    [A-Z]/) {
        if ($0 ~ /^    Type: system-target/) isC[target] = 1
        section = $0
    } else if (section ~ /Target dependencies:/ && NF == 1) {
        uses[target, $1] = 1
        if (inSources[target] && !((target, $1) in may)) problem("Package.swift: " target " may not depend on " $1)
    }
    next
}

# The sources.
FNR == 1 {
    split(FILENAME, parts, "/")
    target = folder[parts[1] "/" parts[2]]
    asksForEssentials = 0
}
/#if canImport\(FoundationEssentials\)/ { asksForEssentials = 1 }
/^[[:space:]]*(@[A-Za-z_]+(\([^)]*\))?[[:space:]]+)*((public|package|internal|fileprivate|private)[[:space:]]+)?import[[:space:]]/ {
    line = $0
    sub(/\/\/.*/, "", line)
    visible = line ~ /(public|package)[[:space:]]+import/
    sub(/^.*import[[:space:]]+/, "", line)
    sub(/^(struct|class|enum|protocol|typealias|func|let|var|actor)[[:space:]]+/, "", line)
    match(line, /^[A-Za-z_][A-Za-z_0-9]*/)
    module = substr(line, 1, RLENGTH)
    where = FILENAME ":" FNR ": "
    if (module == "FoundationNetworking") {
        problem(where "FoundationNetworking is not used: on Linux its redirects can trap the process, and libcurl is ten times as fast")
    } else if (module == "Foundation" && inSources[target] && !asksForEssentials) {
        problem(where "Foundation would bring ICU's tables into the program: import GannetBasics, or in a library FoundationEssentials where it is")
    } else if (module in modules && module != target) {
        if (target == "") problem(where "this file belongs to no target of Package.swift")
        else if (!((target, module) in uses)) problem(where target " may not import " module ", on which it does not depend in Package.swift")
        else if (inSources[target] && !((target, module) in may)) problem(where target " may not import " module)
        else if (visible && module in isC) problem(where "the types of " module " must not leave " target ": import it without public or package")
    }
}

END { exit problems > 0 }
