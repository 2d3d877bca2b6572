-- Hands out jobs. A part of exchange.lua, which runs it in its place.
--
-- A priority's jobs are looked for in this order: URLs that two workers died with; hosts and URLs whose time has come; delayed blocks
-- that are due; blocks that no worker has seen. A job whose outcome is known is handed out to be delivered. A job whose URL is
-- locked follows it. A block whose host has no room moves aside whole. Any other job is locked and handed out.
if queue ~= '' and not isPaused and Ask.most > 0 then
    local lockTail, outcomeKey = incarnation .. pack('>I6I6', now, Clock.lived + ARGV[4]) .. usual, tag .. 'outcome:'

    -- How many jobs of a host may be handed out. The caller wants jobs for its free places, and some to start soon after: these only from
    -- hosts with two free places, or at which requests have ended in this call: these go on with as many.
    function Ask.roomAt(name)
        local host = Hosts.known[name]
        local room = host and Hosts.roomFor(host, queue) or not host and min(Hosts.limit, Hosts.first * 2 ^ Hosts.earned[name]) - Hosts.plain[name]
        if Ask.count < Ask.wanted then return room end
        return host and host.left and max(room - 1, min(room, host.left - (host.entered or 0))) or room - 1
    end

    -- The same for a host that may be given up. Its jobs fail and need no room, so it takes `most` of them.
    function Ask.roomOrMost(name, most)
        local host = Hosts.known[name]
        return host and Hosts.isHopeless(host) and most or Ask.roomAt(name)
    end

    -- The first elements of a list, and about as many as have so many jobs among them. A block of 64 is read and copied whole.
    function Ask.firstOf(key, jobs, most)
        local elements
        repeat elements = call('LRANGE', key, '0', '0') until elements[1] or not Lists.goOn(key)
        local left = elements[1] and jobs - Blocks.jobsIn(elements[1])
        if not left or left <= 0 or most <= 1 then return elements end
        -- It may be the rest of a large block, with other large blocks behind it.
        elements = call('LRANGE', key, '0', '1')
        local size = elements[2] and min(most, 1 + math.ceil(left / Blocks.jobsIn(elements[2]))) or 1
        return size > 2 and call('LRANGE', key, '0', size - 1) or elements
    end

    -- The hosts of blocks, up to a URL to carry on; false for an element that is damaged. What is known of them is read at once.
    local function hostsOf(elements)
        local hosts, names, plain, known = {}, {}, Hosts.plain, Hosts.known
        for i = 1, #elements do
            local bytes = elements[i]
            if #bytes == 16 then break end
            local name = Blocks.isSound(bytes) and sub(bytes, 12, 11 + byte(bytes, 11))
            hosts[i] = name
            if name and not plain[name] and not known[name] then names[#names + 1] = name end
        end
        if names[1] then Hosts.load(names) end
        return hosts
    end

    -- Takes up to `quota` jobs from the heads of blocks, as their hosts have room. Answers these, by their blocks, and what becomes of the
    -- elements: how many are done with, blocks whose hosts are full, and the block that has jobs left at a host with room.
    local function pick(elements, quota, isAside, isDelayed)
        local hosts, rooms, ids, jobs, keys, blocks, full, left, picked, seen = hostsOf(elements), {}, {}, {}, {}, {}, {}, nil, 0, 0
        local done = #hosts
        for i = 1, done do
            local bytes, name = elements[i], hosts[i]
            if name then
                local number, kind, at, count = unpackBytes('>I4', bytes, 2), byte(bytes), 12 + #name, 1
                local batch, isMany, room, common = Counts.batchOf(queue, number), kind % 8 >= 4, rooms[name], ''
                if isMany then count, at = byte(bytes, at), at + 1 end
                local whole = count
                seen = seen + count
                if not room and not batch.isGone then room = Ask.roomOrMost(name, quota) end
                if batch.isGone then
                    -- Its jobs have ended.
                elseif room > 0 and picked < quota then
                    local take, first = min(count, quota - picked, room), picked
                    picked, rooms[name], count = picked + take, room - take, count - take
                    if isMany then common = string.char(kind - 4) .. sub(bytes, 2, at - 2) end
                    for j = first + 1, picked do
                        local id
                        if isMany then
                            local length = unpackBytes('>I2', bytes, at)
                            jobs[j], at = sub(bytes, at + 2, at + 1 + length), at + 2 + length
                            id = sub(jobs[j], 1, 16)
                        else
                            jobs[j], id = bytes, sub(bytes, at, at + 15)
                        end
                        ids[j], keys[j] = id, outcomeKey .. id
                    end
                    local block = {name = name, batch = batch, common = common, upTo = picked, bytes = bytes, at = at, count = count}
                    blocks[#blocks + 1] = block
                    if count > 0 and (isAside or room > take) then left = block elseif count > 0 then full[#full + 1] = block end
                elseif room <= 0 and not isAside and not rooms[name] then
                    full[#full + 1] = {name = name, bytes = bytes}
                else
                    done = i - 1
                    break
                end
                if isDelayed and not batch.isGone then batch.counts.delayed = (batch.counts.delayed or 0) - whole end
            end
        end
        return {ids = ids, jobs = jobs, keys = keys, blocks = blocks, count = picked}, {seen = seen, done = done, full = full, left = left}
    end

    -- Locks the URLs of picked jobs, and hands the jobs out. Nobody has the URLs of almost all, and nothing is known of them: these are
    -- locked together. From the first other job of a block on, Returns.start begins with each by itself.
    local function begin(picked, taker)
        local ids, jobs, answer, added = picked.ids, picked.jobs, Ask.answer, Ask.added
        local outcome, lock, isTaken, set, last, j = call('MGET', unpack(picked.keys)), call('HMGET', Locks.key, unpack(ids)), {}, {}, 0, 1
        for i = 1, #picked.blocks do
            local block = picked.blocks[i]
            local name, batch, common, upTo = block.name, block.batch, block.common, block.upTo
            local tail, token, at, first, known = lockTail .. common, Clock.tokens, 2 * Ask.count, j, Hosts.known[name]
            local isGivenUp, enqueued = known and Hosts.isGivenUp(known), Blocks.enqueued(block.bytes)
            while j <= upTo and not isGivenUp and not lock[j] and not isTaken[ids[j]] do
                local id, stale = ids[j], outcome[j] and Returns.staleFor(outcome[j], enqueued, batch) or ''
                if outcome[j] and stale == '' then break end
                token = token + 1
                local record = 'L' .. pack('>I8', token) .. tail .. jobs[j]
                set[last + 1], set[last + 2], isTaken[id] = id, record, true
                answer[at + 10], answer[at + 11], added[at + 1], added[at + 2] = record, stale, id, ''
                at, last, j = at + 2, last + 2, j + 1
            end
            if j > first then
                Clock.tokens, Ask.count = token, at / 2
                tell(batch, j - first)
                if known then Hosts.enter(known, j - first, taker) else Hosts.plain[name] = Hosts.plain[name] + j - first end
            end
            if j <= upTo then
                if last > 0 then call('HSET', Locks.key, unpack(set)) end
                set, last = {}, 0
                for k = j, upTo do
                    isTaken[ids[k]] = true
                    Returns.start(ids[k], common .. jobs[k], enqueued, outcome[k], name, batch, taker)
                end
                j = upTo + 1
            end
        end
        if last > 0 then call('HSET', Locks.key, unpack(set)) end
    end

    -- Takes what is done with off a list. What a block has left goes back, or aside where its host is full now. Answers whether anything
    -- went back.
    local function putBack(key, rest, priority, quota, isDelayed)
        local back, turned = {}, {}
        if rest.full[1] then Returns.putFull(priority, rest.full, back) end
        if rest.left then Blocks.split(rest.left, quota, back) end
        for i = 1, isDelayed and #back or 0 do
            Counts.count(Counts.batchOfJob(queue, back[i]), 'delayed', Blocks.jobsIn(back[i]))
        end
        if rest.done == 1 and #back == 1 then
            call('LSET', key, '0', back[1])
        elseif rest.done > 0 then
            for i = #back, 1, -1 do turned[#turned + 1] = back[i] end
            call('LTRIM', key, rest.done, '-1')
            if turned[1] then call('LPUSH', key, unpack(turned)) end
        end
        return back[1] ~= nil
    end

    -- Serves from the first elements of a list, up to a URL to carry on. Blocks that stand aside already stay when their host has no room.
    -- Delayed blocks are counted. Answers how many jobs were looked at, and whether that changed the list.
    function Ask.serve(key, elements, priority, quota, isAside, isDelayed)
        if Ask.count < Ask.wanted then quota = min(quota, Ask.wanted - Ask.count) end
        local picked, rest = pick(elements, quota, isAside, isDelayed)
        if picked.count > 0 then begin(picked, not isAside and queue) end
        local isLeft = putBack(key, rest, priority, quota, isDelayed)
        return rest.seen, rest.done > 0 and not isLeft or picked.count > 0
    end

    -- Serves from the jobs of a priority that no worker has seen, from so many elements. Answers how many the next look takes.
    local function lookAtReady(line, priority, goal, size)
        local earlier, delayed, elements = Ask.count, line.delayed and line.delayed[1], nil
        local key = delayed and delayed.key or line.ready
        repeat
            elements = size > 1 and call('LRANGE', key, '0', min(size, Ask.budget) - 1) or Ask.firstOf(key, goal - earlier, min(Ask.budget, 256))
        until elements[1] or size <= 1 or not Lists.goOn(key)
        if delayed then elements = Returns.dueOf(delayed, elements) end
        if not elements[1] then
            if delayed then Returns.leaveDelayed(line) else line.isReady = false end
            return size
        end
        Ask.budget = Ask.budget - #elements
        local seen = Ask.serve(key, elements, priority, goal - earlier, false, delayed)
        -- The next look is as wide as the jobs that are wanted still; wider where nothing could start.
        if Ask.count >= goal then return size end
        size = Ask.count == earlier and #elements * 4 or math.ceil((goal - Ask.count) * #elements / max(1, seen))
        return max(2, min(256, size))
    end

    -- Looks for what is due, and for jobs that no worker has seen.
    for _, line in pairs(Ask.open) do
        local timers = Hosts.firstTimers(line.timers, 2)
        local first, host = timers[1], timers.hosts[1]
        local isDue = first and first.at <= now
        if isDue and byte(first.member) == 100 then isDue = Returns.findDelayed(line) end
        line.isDue = line.isDue or isDue or host and host.at <= now
        Ask.isLone = Ask.isLone or host and host.member == 'h!'
    end
    if Ask.isLone then Returns.serveLone() end
    local only, place = #uses == 1 and byte(uses) - 48, turn
    while Ask.count < Ask.most do
        local before, line, isDue = Ask.count, Ask.open[only], false
        for _, other in pairs(Ask.open) do isDue = isDue or other.isDue end
        -- A host that has few places takes fewer jobs than are wanted. Each of its places is a turn, or the first priority took them all.
        local shares = not line and Returns.sharesOf(isDue and 1 or Ask.most - before, place)
        if not shares and not (line and (line.isReady or line.isDue)) then break end
        if Ask.budget <= 0 then
            Ask.isMore = true
            break
        end
        for priority = only or 1, only or 3 do
            local goal, size = only and Ask.most or min(Ask.count + shares[priority], Ask.most), 1
            line = Ask.open[priority]
            -- One look finds only some of what is due, and all of it goes before jobs that never ran.
            while Ask.count < goal and Ask.budget > 0 and (line.isDue or line.isReady) do
                if line.isDue then Returns.serveDue(priority, goal) else size = lookAtReady(line, priority, goal, size) end
            end
        end
        place = place + max(1, Ask.count - before)
    end
    for _, line in pairs(Ask.open) do
        if line.delayed then Returns.leaveDelayed(line) end
    end
end
