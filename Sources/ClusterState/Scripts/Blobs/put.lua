-- Stores a body, once: one that is there is only marked as used.
--
-- Where the limit is reached, bodies that were not used for longest make room. Those used a moment ago are spared, for their jobs are not
-- settled yet; rather than refuse a body for their sake the store grows above its limit, by a quarter of it at most.
--
-- KEYS  1 '{namespace:blob}count'
-- ARGV  1 the digest   2 the body   3 the limit, bytes of memory   4 how long ago the last use of a body is that may go, ms
-- Answer: 'present', 'stored', 'large' when nothing could make room for it, 'full' when too many are spared, 'again' when some were
--         dropped and more may be; with the last three nothing was stored
local digest, body, limit, sparing = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local needed = memoryFor(#body)
local there = call('STRLEN', keyOf(digest))
if needed > limit then return 'large' end
if there == #body and call('EXISTS', keyOf(digest)) == 1 then
    touch(digest, #body)
    return 'present'
end
local HIGHEST = 1.25
if memory + needed > limit * HIGHEST then
    local isMore = evict(limit, needed, sparing)
    if memory + needed > limit * HIGHEST then return isMore and 'again' or 'full' end
end
call('SET', keyOf(digest), body)
if there ~= #body then forget(digest, there) end
touch(digest, #body)
evict(limit, 0, sparing)
return 'stored'
