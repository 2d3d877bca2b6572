# The rules of imports that Package.swift cannot state. `Scripts/check imports` reads this file with two inputs: first, with `describing` set, the targets as
# `swift package describe` prints them, then the sources.
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
    } else if ($0 ~ /^    [A-Z]/) {
        if ($0 ~ /^    Type: system-target/) isC[target] = 1
        section = $0
    } else if (section ~ /Target dependencies:/ && NF == 1) {
        uses[target, $1] = 1
    }
    next
}

# The sources.
FNR == 1 {
    split(FILENAME, parts, "/")
    target = folder[parts[1] "/" parts[2]]
}
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
    } else if (module == "Foundation" && inSources[target]) {
        problem(where "Foundation would bring ICU's tables into the program: import GannetBase or FoundationEssentials")
    } else if (module in modules && module != target) {
        if (target == "") problem(where "this file belongs to no target of Package.swift")
        else if (!((target, module) in uses)) problem(where target " may not import " module ", on which it does not depend in Package.swift")
        else if (visible && module in isC) problem(where "the types of " module " must not leave " target ": import it without public or package")
    }
}

END { exit problems > 0 }
