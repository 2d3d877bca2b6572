-- Stores a body, once: one that is there is only marked as used.
--
-- Where the limit is reached, bodies that were not used for longest make room. Those used a moment ago are spared, for their jobs are not
-- settled yet; rather than refuse a body for their sake the store grows above its limit, by a quarter of it at most.
--
-- A large body does not go through a script, whose copies of it would hold everybody up: its entry is written first and the body, with
-- a command of its own, after it. An entry whose body never came is one whose body is gone.
--
-- KEYS  1 '{namespace:blob}count'
-- ARGV  1 the digest   2 the size   3 the limit, bytes of memory   4 how long ago the last use of a body is that may go, ms
--       5 the body; without it the caller writes it when it may
-- Answer: 'present', 'stored' or to be stored, 'large' when nothing could make room for it, 'full' when too many are spared, 'again' when
--         some were dropped and more may be; with the last three nothing was stored
local digest, size, limit, sparing, body = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local needed = memoryFor(size)
local there = call('STRLEN', keyOf(digest))
if needed > limit then return 'large' end
if there == size and call('EXISTS', keyOf(digest)) == 1 then
    touch(digest, size)
    return 'present'
end
local HIGHEST = 1.25
if memory + needed > limit * HIGHEST then
    local isMore = evict(limit, needed, sparing)
    if memory + needed > limit * HIGHEST then return isMore and 'again' or 'full' end
end
-- Either is refused, before anything is changed, when Redis' memory is full.
if body then call('SET', keyOf(digest), body) else call('HSET', KEYS[1], 'seen', wall, 'shift', shift) end
if there ~= size then forget(digest, there) end
touch(digest, size)
evict(limit, 0, sparing)
return 'stored'
