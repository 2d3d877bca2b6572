--@ clock
-- Bodies by their SHA-256. The store shares no key with the rest of the state, and may be on another server. Docs/REDIS.md has its keys.
--
-- In the index a body is digest(32) size(5), so that the counters are the sum of the index, whatever becomes of a body. An entry without
-- a body goes when its turn comes. The caller writes bodies: a script's copies of them would hold up all other calls.
--
-- KEYS  1 '{namespace:blob}count'
-- ARGV  1 'put'      2 the limit, bytes of memory   3 how long ago the last use of a body is that may go, ms   then for each: digest, size,
--                    and the batch that it is for, or ''
--         'touch'    for each body that was read, or asked for: its digest, and the batch that it is for, or ''
--         'refused'  2 the digest of a body that Redis did not take   3 its size: it counts no more
--         'evict'    2 the limit; -1 where Redis itself is full   3 as for 'put'   4 the size of a body that needs room
--         'remove'   2 the digest
--         'hold'     2 a batch, which holds its bodies from now on
--         'exported' 2 a batch   3 … for each of its bodies that it holds no more: digest, size
--         'release'  2 a batch that holds nothing any more
-- Answer to 'put': for each body 'present', 'write', 'large' when nothing could make room for it, 'full' when too many are spared, 'held'
-- when batches hold the others, 'again' when some were dropped and more may be; with the last four nothing was noted. To 'evict': whether
-- more may go, or whether there is room now in a full Redis. To 'touch': the size of each, 0 where it is not there. To 'remove': whether it
-- was there. To 'hold': whether it held nothing before. To 'release': whether there is more to do.
--
-- While a counter is no number, nothing is written. Rather than refuse a body for the sake of those that were used a moment ago, the store
-- grows above its limit.
local MOST_EVICTED, MOST_LOOKS, HIGHEST, NOTED_FOR, HELD_FOR, CACHED = 100, 5000, 1.25, 60000, 2592000000, 8796093022208
local index, holds, counters = tag .. 's', tag .. 'holds', call('HMGET', KEYS[1], 'memory', 'bytes', 'evicted')
local memory, isDamaged = numberOf(counters[1]), areDamaged(counters)
if isDamaged and ARGV[1] ~= 'touch' then return damaged(KEYS[1]) end
local bytesChanged, memoryChanged, used, cached, held, holding, actions = 0, 0, {}, {}, {}, {}, {}
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
    if #cached > 0 then call('ZADD', index, 'GT', unpack(cached)) end
    for i = 1, #held, 2 do call('SADD', held[i], held[i + 1]) end
    if bytesChanged ~= 0 then call('HINCRBY', KEYS[1], 'bytes', bytesChanged) end
    if memoryChanged ~= 0 then call('HINCRBY', KEYS[1], 'memory', memoryChanged) end
    Clock.save()
    bytesChanged, memoryChanged, used, cached, held = 0, 0, {}, {}, {}
end

local function keyOfBatch(batch) return tag .. 'of:' .. batch end

-- Whether a batch holds its bodies. A job may be one of a batch that was released.
local function isHolding(batch)
    if batch == '' then return false end
    if holding[batch] == nil then holding[batch] = call('ZSCORE', holds, batch) and true or false end
    return holding[batch]
end

local function use(member, batch)
    local isHeld = isHolding(batch)
    local list = isHeld and used or cached
    list[#list + 1], list[#list + 2] = isHeld and Clock.now or Clock.now - CACHED, member
    if isHeld then held[#held + 1], held[#held + 2] = keyOfBatch(batch), member end
end

-- Nobody may hold these bodies any more: they make room when their turn comes.
local function letGo(members)
    local batches = call('ZRANGE', holds, 0, -1)
    for _, member in ipairs(members) do
        local isHeld = false
        for _, batch in ipairs(batches) do isHeld = isHeld or call('SISMEMBER', keyOfBatch(batch), member) == 1 end
        local at = not isHeld and tonumber(call('ZSCORE', index, member))
        if at and at >= 0 then call('ZADD', index, 'XX', at - CACHED, member) end
    end
end

local function forget(digest, size)
    if call('ZREM', index, memberOf(digest, size)) == 1 then count(size, -1) end
end

-- Drops bodies that were not used for longest until `room` is free below `limit`, within a bound, none that was used within `sparing` ms, and
-- none that a batch holds. A batch holds a body for a month, because the outcome that names it is not kept for much longer. Answers
-- whether more may go, and whether it is batches that keep it from that.
local function evict(limit, room, sparing)
    if memory + room <= limit then return false, false end
    local oldest, isMore = call('ZRANGE', index, 0, MOST_EVICTED - 1, 'WITHSCORES'), false
    local heldSince = Clock.now - HELD_FOR
    local isHeld = oldest[1] and tonumber(oldest[#oldest]) >= heldSince
    for i = 1, #oldest, 2 do
        local at = tonumber(oldest[i + 1])
        local mayGo = at < 0 and at + CACHED < Clock.now - sparing or at >= 0 and at < heldSince
        if not mayGo or memory + room <= limit then break end
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
    return isMore, isHeld
end

function actions.put(limit, sparing)
    limit, sparing = tonumber(limit), tonumber(sparing)
    local bodies, members, answer, isNew, wanted = {}, {}, {}, {}, 0
    for i = 4, #ARGV, 3 do
        local body = {digest = ARGV[i], size = tonumber(ARGV[i + 1]), batch = ARGV[i + 2]}
        body.needed = memoryFor(body.size)
        bodies[#bodies + 1], members[#members + 1] = body, memberOf(body.digest, body.size)
    end
    local known = call('ZMSCORE', index, unpack(members))
    local function note(i, body, word)
        answer[i] = word
        if not known[i] and not isNew[members[i]] then count(body.size, 1) end
        isNew[members[i]] = true
        use(members[i], body.batch)
    end
    -- Bodies that are there come first, so that none of them makes room for the others.
    for i, body in ipairs(bodies) do
        local there = call('STRLEN', keyOf(body.digest))
        local isThere = there == body.size and (body.size > 0 or call('EXISTS', keyOf(body.digest)) == 1)
        -- What another program cut short is written anew.
        if there > 0 and not isThere and body.needed <= limit then forget(body.digest, there) end
        if body.needed > limit then
            answer[i] = 'large'
        elseif isThere or known[i] then
            note(i, body, isThere and 'present' or 'write')
        else
            wanted = wanted + body.needed
        end
    end
    save()
    local isMore, isHeld = evict(limit, min(wanted, limit), sparing)
    for i, body in ipairs(bodies) do
        if not answer[i] and not isNew[members[i]] then
            if memory + body.needed > limit * HIGHEST then isMore, isHeld = evict(limit, body.needed, sparing) end
            if isHeld and memory + body.needed > limit then
                answer[i] = 'held'
            elseif memory + body.needed > limit * HIGHEST then
                answer[i] = isMore and 'again' or 'full'
            end
        end
        if not answer[i] then note(i, body, 'write') end
    end
    save()
    return answer
end

-- A use for no batch is not noted again within a minute, so a body that is read all the time costs no writes. A server that is read only
-- answers too.
function actions.touch()
    local sizes, members, isNoted = {}, {}, {}
    for i = 2, #ARGV, 2 do
        local digest = ARGV[i]
        sizes[#sizes + 1] = call('STRLEN', keyOf(digest))
        members[#members + 1] = memberOf(digest, sizes[#sizes])
    end
    local noted = call('ZMSCORE', index, unpack(members))
    for i, member in ipairs(members) do
        local batch = ARGV[2 * i + 1]
        local isFresh = not isHolding(batch) and noted[i] and tonumber(noted[i]) >= Clock.now - NOTED_FOR - CACHED
        if sizes[i] > 0 and not isFresh then
            if not noted[i] and not isNoted[member] then count(sizes[i], 1) end
            use(member, batch)
            isNoted[member] = true
        end
    end
    if #used + #cached > 0 and not isDamaged then pcall(save) end
    return sizes
end

function actions.refused(digest, size)
    if call('EXISTS', keyOf(digest)) == 0 then forget(digest, tonumber(size)) end
    save()
end

function actions.evict(limit, sparing, size)
    limit, sparing = tonumber(limit), tonumber(sparing)
    local needed, before = memoryFor(tonumber(size)), memory
    if limit >= 0 then return (evict(limit, needed, sparing)) and 1 or 0 end
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

function actions.hold(batch)
    local isNew = call('ZADD', holds, 'NX', Clock.now, batch)
    save()
    return isNew
end

function actions.exported(batch)
    local key, members = keyOfBatch(batch), {}
    for i = 3, #ARGV, 2 do
        local member = memberOf(ARGV[i], tonumber(ARGV[i + 1]))
        if call('SREM', key, member) == 1 then members[#members + 1] = member end
    end
    letGo(members)
    save()
    return #members
end

-- A part of its bodies in each call.
function actions.release(batch)
    call('ZREM', holds, batch)
    local number = max(1, min(MOST_EVICTED, floor(MOST_LOOKS / (1 + call('ZCARD', holds)))))
    letGo(call('SPOP', keyOfBatch(batch), number))
    save()
    return call('EXISTS', keyOfBatch(batch))
end

return actions[ARGV[1]](ARGV[2], ARGV[3], ARGV[4])
