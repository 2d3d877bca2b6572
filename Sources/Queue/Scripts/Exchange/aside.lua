-- What stands aside: blocks and URLs whose host had no room, and suspects. A part of returns.lua, which runs it in its place.

-- At the head of what stands aside there, or at its end.
function Returns.putAside(priority, host, isFirst, elements)
    local key = asideOf(priority, host.name)
    local at, isNew = Hosts.opensAt(host), false
    if isFirst then isNew = call('LPUSH', key, unpack(elements)) == #elements else isNew = Lists.push(key, elements) end
    Hosts.waitFor(host, queue)
    if isNew then call('ZADD', Ask.open[priority].timers, Hosts.lookAgainAt(host, at) + Hosts.BEHIND, 'h' .. host.name) end
end

-- Puts blocks aside whose host was full, and what is left of blocks whose host became so. Jobs that were only to be delivered took no
-- room: what is left beside these goes back.
function Returns.putFull(priority, full, back)
    local aside, order = {}, {}
    for _, rest in ipairs(full) do
        local name, list = rest.name, back
        if not rest.count or Ask.roomAt(name) <= 0 then
            if not aside[name] then aside[name], order[#order + 1] = {}, name end
            list = aside[name]
        end
        if rest.count then Blocks.split(rest, 64, list) else list[#list + 1] = rest.bytes end
    end
    for _, name in ipairs(order) do Returns.putAside(priority, Hosts.of(name), false, aside[name]) end
end

-- The first job of a block by itself, and what the block has left.
local function parted(bytes)
    local block, left = Blocks.read(bytes), {}
    if block.count == 1 then return bytes end
    local at = 13 + #block.host
    local ends = at + 2 + unpackBytes('>I2', bytes, at)
    Blocks.split({bytes = bytes, at = ends, count = block.count - 1}, 64, left)
    return string.char(block.kind - 4) .. sub(bytes, 2, at - 2) .. sub(bytes, at + 2, ends - 1), left[1]
end

-- A URL that its own host put off leaves the host's next probe to another URL of its priority: one that came back for another reason,
-- or a job that never ran. It comes to the head of what stands aside there. Answers whether there is one.
function Returns.bringOther(priority, host)
    local key, ready = asideOf(priority, host.name), Ask.open[priority].ready
    for i, element in ipairs(call('LRANGE', key, 0, LARGEST_LOOK - 1)) do
        Ask.budget = Ask.budget - 1
        local isURL, first, left = #element == 16, element, nil
        if isURL and not isPutOff(Locks.get(element)) or not isURL and Blocks.isSound(element) then
            if not isURL then first, left = parted(element) end
            if i > 1 or left then
                call('LSET', key, i - 1, left or Blocks.GONE)
                call('LPUSH', key, first)
            end
            return true
        end
    end
    local element = call('LINDEX', ready, 0)
    if not element or not Blocks.isSound(element) or Blocks.hostOf(element) ~= host.name then return false end
    local first, left = parted(element)
    if left then call('LSET', ready, 0, left) else call('LPOP', ready) end
    Returns.putAside(priority, host, true, {first})
    return true
end

-- Carries the first URL of a list on. Where it is not done with there, it goes back to the head or the end. Answers whether it is.
local function carryOnFirst(priority, key, met, back)
    local id = call('LPOP', key)
    local isDone = carryOn(priority, id, met)
    if not isDone then call(back, key, id) end
    return isDone
end

-- Serves from what stands aside at a host, as far as the host has room.
local function serveHost(priority, name, goal)
    local key, host, before = asideOf(priority, name), Hosts.of(name), Ask.count
    while Ask.count < goal and Ask.budget > 0 do
        local room = Ask.roomOrMost(name, LARGEST_LOOK)
        if room <= 0 then break end
        local first = host.probing > 0 and call('LINDEX', key, 0)
        if first and #first == 16 and isPutOff(Locks.get(first)) then Returns.bringOther(priority, host) end
        local elements = Ask.firstOf(key, min(room, goal - Ask.count), LARGEST_LOOK)
        if not elements[1] then break end
        Ask.budget = Ask.budget - #elements
        if #elements[1] == 16 then
            if not carryOnFirst(priority, key, 'aside', 'LPUSH') and Ask.count == before then break end
        else
            local _, isDone = Ask.serve(key, elements, priority, goal - Ask.count, true)
            if not isDone then break end
        end
    end
    if Ask.count > before then Hosts.turnTaken(host, queue) end
    if Lists.isEmpty(key) then
        call('ZREM', Ask.open[priority].timers, 'h' .. name)
    else
        Hosts.waitFor(host, queue)
        -- It came, whatever it found.
        if host.waiting[1] == queue then Hosts.changed(host).offered = 0 end
        -- One that has room still, or waits for its turn, is looked at when that comes.
        local at = Hosts.opensAt(host)
        host.needs = Hosts.needsOf(key, name)
        if at <= now then at = Hosts.roomFor(host, queue) > 0 and now - host.needs or now + Hosts.TURN_KEPT end
        call('ZADD', Ask.open[priority].timers, Hosts.lookAgainAt(host, at) + Hosts.BEHIND, 'h' .. name)
    end
end

-- Suspects stand aside while their host has room and no worker comes that may hold them beside its own. Their timer is always due. A
-- suspect whose host is full meanwhile stands aside there.
local function serveSuspects(priority, goal)
    if Ask.suspects >= Locks.MOST_SUSPECTS then return end
    local key = asideOf(priority, SUSPECTS)
    local length = call('LLEN', key)
    for _ = 1, min(Locks.MOST_SUSPECTS, length) do
        if Ask.count >= goal then return end
        local before = Ask.count
        if not carryOnFirst(priority, key, SUSPECTS, 'LPUSH') and Ask.count == before then return end
    end
    local left = call('LLEN', key)
    if left == 0 then call('ZREM', Ask.open[priority].timers, 'h' .. SUSPECTS) end
    if left > 0 and left < length and Ask.suspects < Locks.MOST_SUSPECTS then Ask.isMore = true end
end

-- A worker that has nothing takes one of the URLs that two workers died with, and then nothing else. One worker of the queue at a time
-- takes no more jobs until it has nothing.
function Returns.serveLone()
    local isLeft = false
    for priority = 1, 3 do
        local line, key = Ask.open[priority], asideOf(priority, LONE)
        -- A URL whose host is busy goes behind the others.
        for _ = 1, line and min(call('LLEN', key), LARGEST_LOOK) or 0 do
            if Ask.budget <= 0 or not hasNothing() then break end
            Ask.budget = Ask.budget - 1
            carryOnFirst(priority, key, LONE, 'RPUSH')
        end
        if line and call('EXISTS', key) == 1 then isLeft = true elseif line then call('ZREM', line.timers, 'h' .. LONE) end
    end
    local who = call('HGET', KEYS[2], 'alone')
    local isOther = who and who ~= incarnation and tonumber(call('ZSCORE', Locks.leases, who) or 0) > Clock.lived
    if not isLeft then
        if who then call('HDEL', KEYS[2], 'alone') end
    elseif not isOther then
        if who ~= incarnation then call('HSET', KEYS[2], 'alone', incarnation) end
        Ask.isHeldBack = true
    end
    if Ask.isHeldBack then Ask.most, Ask.wanted = Ask.count, Ask.count end
end
