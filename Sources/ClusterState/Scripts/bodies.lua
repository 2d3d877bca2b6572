--@ clock
-- Bodies by their SHA-256. The store shares no key with the rest of the state, and may be on another server.
--
--   '{namespace:blob}count', a hash        bytes: of all bodies; memory: what Redis needs for them, about; evicted: how many had to go;
--                                          the store's own clock
--   '{namespace:blob}s', a sorted set      digest(32) size(5) to its last use, in queue time: who was not used for longest goes first. The
--                                          size stands here too, so that the counters are the sum of this index, whatever became of a body.
--   '{namespace:blob}:<digest>', a string  a body, which the caller writes: a script's copies of bodies would hold up all other calls
-- An entry without a body goes when its turn comes.
--
-- KEYS  1 '{namespace:blob}count'
-- ARGV  1 'put'      2 the limit, bytes of memory   3 how long ago the last use of a body is that may go, ms   then for each: digest, size
--         'touch'    the digests of bodies that were read, or asked for
--         'refused'  2 the digest of a body that Redis did not take   3 its size: it counts no more
--         'evict'    2 the limit; -1 where Redis itself is full   3 as for 'put'   4 the size of a body that needs room
--         'remove'   2 the digest
--         'sum'      2 where in the index to begin   3 of how many bodies
-- Answer to 'put': for each body 'present', 'write', 'large' when nothing could make room for it, 'full' when too many are spared, 'again'
-- when some were dropped and more may be; with the last three nothing was noted. To 'evict': whether more may go, or whether there is room
-- now in a full Redis. To 'touch': the size of each, 0 where it is not there. To 'remove': whether it was there.
-- To 'sum': how many entries it met, their bytes, and their memory. While a counter is no number, nothing is written, and an audit can count.
-- Rather than refuse a body for the sake of those that were used a moment ago, the store grows above its limit.
local MOST_EVICTED, HIGHEST, NOTED_FOR = 100, 1.25, 60000
local index, counters = tag .. 's', call('HMGET', KEYS[1], 'memory', 'bytes', 'evicted')
local memory, isDamaged = numberOf(counters[1]), areDamaged(counters)
if isDamaged and ARGV[1] ~= 'touch' and ARGV[1] ~= 'sum' then return damaged(KEYS[1]) end
local bytesChanged, memoryChanged, used, actions = 0, 0, {}, {}
call('ZCARD', index)

local function keyOf(digest) return tag .. ':' .. digest end
local function memberOf(digest, size) return digest .. pack('>I5', size) end

-- What a body of this size takes: the allocator has four sizes between a power of two and the next, and key and entry need their own.
local function memoryFor(size)
    local _, exponent = math.frexp(size + 24)
    local step = max(16, 2 ^ (exponent - 3))
    return math.ceil((size + 24) / step) * step + 280
end

local function count(size, by)
    local change = memoryFor(size) * by
    memory, memoryChanged, bytesChanged = memory + change, memoryChanged + change, bytesChanged + size * by
end

-- Notes the uses and the sums of this call.
local function save()
    Clock.writeAlsoWhenFull()
    if #used > 0 then call('ZADD', index, unpack(used)) end
    if bytesChanged ~= 0 then call('HINCRBY', KEYS[1], 'bytes', bytesChanged) end
    if memoryChanged ~= 0 then call('HINCRBY', KEYS[1], 'memory', memoryChanged) end
    Clock.save()
    bytesChanged, memoryChanged, used = 0, 0, {}
end

local function use(member) used[#used + 1], used[#used + 2] = Clock.now, member end

local function forget(digest, size)
    if call('ZREM', index, memberOf(digest, size)) == 1 then count(size, -1) end
end

-- Drops bodies that were not used for longest until `room` is free below `limit`, within a bound, and none that was used within
-- `sparing` ms. Answers whether more may go.
local function evict(limit, room, sparing)
    if memory + room <= limit then return false end
    local oldest, isMore = call('ZRANGE', index, 0, MOST_EVICTED - 1, 'WITHSCORES'), false
    for i = 1, #oldest, 2 do
        if memory + room <= limit or tonumber(oldest[i + 1]) >= Clock.now - sparing then break end
        if #oldest[i] == 37 then
            local digest, size = sub(oldest[i], 1, 32), unpackBytes('>I5', oldest[i], 33)
            if call('UNLINK', keyOf(digest)) == 1 then call('HINCRBY', KEYS[1], 'evicted', 1) end
            forget(digest, size)
        else
            call('ZREM', index, oldest[i])
        end
        isMore = i == 2 * MOST_EVICTED - 1
    end
    save()
    return isMore
end

function actions.put(limit, sparing)
    limit, sparing = tonumber(limit), tonumber(sparing)
    local members, answer, isNew = {}, {}, {}
    for i = 4, #ARGV, 2 do members[#members + 1] = memberOf(ARGV[i], tonumber(ARGV[i + 1])) end
    local known = call('ZMSCORE', index, unpack(members))
    for i, member in ipairs(members) do
        local digest, size = ARGV[2 * i + 2], tonumber(ARGV[2 * i + 3])
        local needed, there, isCounted = memoryFor(size), call('STRLEN', keyOf(digest)), known[i] or isNew[member]
        local isThere = there == size and (size > 0 or call('EXISTS', keyOf(digest)) == 1)
        answer[i] = isThere and 'present' or 'write'
        if needed > limit then
            answer[i] = 'large'
        elseif not isThere and not isCounted and memory + needed > limit * HIGHEST then
            local isMore = evict(limit, needed, sparing)
            if memory + needed > limit * HIGHEST then answer[i] = isMore and 'again' or 'full' end
        end
        if answer[i] == 'present' or answer[i] == 'write' then
            -- What another program cut short is written anew.
            if there > 0 and not isThere then forget(digest, there) end
            if not isCounted then count(size, 1) end
            isNew[member] = true
            use(member)
        end
    end
    save()
    evict(limit, 0, sparing)
    return answer
end

-- A use within the last minute stands already: a body that is read all the time costs no writes. A server that is read only answers too.
function actions.touch()
    local sizes, members, isNoted = {}, {}, {}
    for i = 2, #ARGV do
        sizes[i - 1] = call('STRLEN', keyOf(ARGV[i]))
        members[i - 1] = memberOf(ARGV[i], sizes[i - 1])
    end
    local noted = call('ZMSCORE', index, unpack(members))
    for i, member in ipairs(members) do
        if sizes[i] > 0 and not isNoted[member] and tonumber(noted[i] or 0) < Clock.now - NOTED_FOR then
            if not noted[i] then count(sizes[i], 1) end
            use(member)
            isNoted[member] = true
        end
    end
    if #used > 0 and not isDamaged then pcall(save) end
    return sizes
end

function actions.refused(digest, size)
    if call('EXISTS', keyOf(digest)) == 0 then forget(digest, tonumber(size)) end
    save()
end

function actions.evict(limit, sparing, size)
    limit, sparing = tonumber(limit), tonumber(sparing)
    local needed, before = memoryFor(tonumber(size)), memory
    if limit >= 0 then return evict(limit, needed, sparing) and 1 or 0 end
    -- Redis itself is full: bodies go for twice as much, because Redis needs some besides.
    evict(memory - needed, needed, sparing)
    return memory <= before - needed and 1 or 0
end

function actions.remove(digest)
    local size, wasThere = call('STRLEN', keyOf(digest)), call('UNLINK', keyOf(digest))
    forget(digest, size)
    save()
    return wasThere
end

function actions.sum(from, most)
    local members, bytes, needed = call('ZRANGE', index, from, from + most - 1), 0, 0
    for _, member in ipairs(members) do
        local size = #member == 37 and unpackBytes('>I5', member, 33)
        if size then bytes, needed = bytes + size, needed + memoryFor(size) end
    end
    return {#members, bytes, needed}
end

return actions[ARGV[1]](ARGV[2], ARGV[3], ARGV[4])
