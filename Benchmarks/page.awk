# Reads the tables of a part and prints those that RESULTS.md shows. `Scripts/bench PART` prints all of them.
#
#   awk -f Benchmarks/page.awk FILE

# A list of every command of Redis is for the person who changes a script.
/^Redis' commands in the first of these runs/ { isLeftOut = 1; next }
isLeftOut && (/^\|/ || /^$/) { next }
{ isLeftOut = 0 }

# The engine's tables keep a small and a large number of requests in flight.
/^\|/ && !isTable { engine = / in flight \| gannet \| CPU \|/ }
{ isTable = /^\|/ }
engine && isTable && split($0, cells, / *\| */) > 4 && (cells[3] == "16" || cells[3] == "512") { next }

# A line of nothing behind another one, and how long the part took.
/^All of it took / { next }
/^$/ && wasEmpty { next }
{ wasEmpty = /^$/ }
{ held = held (NR > 1 && printed ? "\n" : "") $0; printed = 1 }
END { sub(/\n+$/, "", held); print held }
