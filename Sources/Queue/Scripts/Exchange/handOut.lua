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
        local elements = call('LRANGE', key, '0', '0')
        local left = elements[1] and jobs - Blocks.jobsIn(elements[1])
        if not left or left <= 0 or most <= 1 then return elements end
        -- It may be the rest of a large block, with other large blocks behind it.
        elements = call('LRANGE', key, '0', '1')
        local size = elements[2] and min(most, 1 + math.ceil(left / Blocks.jobsIn(elements[2]))) or 1
        return size > 2 and call('LRANGE', key, '0', size - 1) or elements
    end

    -- Serves from the first elements of a list, up to a URL to carry on, and puts back what is left of them. Blocks that stand aside already
    -- stay when their host has no room. Delayed blocks are counted. Answers how many jobs were looked at, and whether that changed the list.
    function Ask.serve(key, elements, priority, quota, isAside, isDelayed)
        if Ask.count < Ask.wanted then quota = min(quota, Ask.wanted - Ask.count) end
        local plain, known, names, hosts, done = Hosts.plain, Hosts.known, {}, {}, #elements
        for i = 1, done do
            local bytes = elements[i]
            if #bytes == 16 then
                done = i - 1
                break
            elseif Blocks.isSound(bytes) then
                local name = sub(bytes, 12, 11 + byte(bytes, 11))
                hosts[i] = name
                if not plain[name] and not known[name] then names[#names + 1] = name end
            end
        end
        if names[1] then Hosts.load(names) end

        local ids, jobs, keys, blocks, rooms, full, left, picked, seen = {}, {}, {}, {}, {}, {}, nil, 0, 0
        for i = 1, done do
            local bytes, name = elements[i], hosts[i]
            if name then
                local number, kind, at, count = unpackBytes('>I4', bytes, 2), byte(bytes), 12 + #name, 1
                local batch, isMany, room, common = Counts.batchOf(queue, number), kind % 8 >= 4, rooms[name], ''
                if isMany then count, at = byte(bytes, at), at + 1 end
                local whole = count
                seen = seen + count
                if not room and not batch.isGone then room = Ask.roomOrMost(name, quota) end
                if not batch.isGone and room > 0 and picked < quota then
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
                elseif not batch.isGone and room <= 0 and not isAside and not rooms[name] then
                    full[#full + 1] = {name = name, bytes = bytes}
                elseif not batch.isGone then
                    done = i - 1
                    break
                end
                if isDelayed and not batch.isGone then batch.counts.delayed = (batch.counts.delayed or 0) - whole end
            end
        end

        if picked > 0 then
            -- Nobody has the URLs of almost all jobs, and nothing is known of them.
            local outcome, lock, isTaken, set, last, j = call('MGET', unpack(keys)), call('HMGET', Locks.key, unpack(ids)), {}, {}, 0, 1
            local answer, added = Ask.answer, Ask.added
            for i = 1, #blocks do
                local block = blocks[i]
                local name, batch, common, upTo = block.name, block.batch, block.common, block.upTo
                local tail, token, at, first = lockTail .. common, Clock.tokens, 2 * Ask.count, j
                local isGivenUp, enqueued = known[name] and Hosts.isGivenUp(known[name]), Blocks.enqueued(block.bytes)
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
                    if plain[name] then plain[name] = plain[name] + j - first else Hosts.enter(known[name], j - first, not isAside and queue) end
                end
                if j <= upTo then
                    if last > 0 then call('HSET', Locks.key, unpack(set)) end
                    set, last = {}, 0
                    for k = j, upTo do
                        isTaken[ids[k]] = true
                        Returns.start(ids[k], common .. jobs[k], enqueued, outcome[k], name, batch, not isAside and queue)
                    end
                    j = upTo + 1
                end
            end
            if last > 0 then call('HSET', Locks.key, unpack(set)) end
        end

        -- What a block has left goes back, or aside where its host is full now.
        local back, turned = {}, {}
        if full[1] then Returns.putFull(priority, full, back) end
        if left then Blocks.split(left, quota, back) end
        for i = 1, isDelayed and #back or 0 do
            local block = Blocks.read(back[i])
            Counts.count(queue, block.batch, 'delayed', block.count)
        end
        if done == 1 and #back == 1 then
            call('LSET', key, '0', back[1])
        elseif done > 0 then
            for i = #back, 1, -1 do turned[#turned + 1] = back[i] end
            call('LTRIM', key, done, '-1')
            if turned[1] then call('LPUSH', key, unpack(turned)) end
        end
        return seen, done > 0 and #back == 0 or picked > 0
    end

    -- Serves from the jobs of a priority that no worker has seen, from so many elements. Answers how many the next look takes.
    local function lookAtReady(line, priority, goal, size)
        local earlier, delayed = Ask.count, line.delayed and line.delayed[1]
        local key = delayed and delayed.key or line.ready
        local elements = size > 1 and call('LRANGE', key, '0', min(size, Ask.budget) - 1)
            or Ask.firstOf(key, goal - earlier, min(Ask.budget, 256))
        if delayed then elements = Returns.dueOf(delayed, elements) end
        if not elements[1] then
            if delayed then Returns.leaveDelayed(line) else line.isReady = Lists.goOn(key) end
            return size
        end
        Ask.budget = Ask.budget - #elements
        local seen = Ask.serve(key, elements, priority, goal - earlier, false, delayed)
        -- The next look is as wide as the jobs that are wanted still; wider where nothing could start.
        if Ask.count >= goal then return size end
        size = Ask.count == earlier and #elements * 4 or math.ceil((goal - Ask.count) * #elements / max(1, seen))
        return max(2, min(256, size))
    end

    local only, place = #uses == 1 and byte(uses) - 48, turn
    for _, line in pairs(Ask.open) do
        local timers = Hosts.firstTimers(line.timers, 2)
        local first, host = timers[1], timers.hosts[1]
        local isDue = first and first.at <= now
        if isDue and byte(first.member) == 100 then isDue = Returns.findDelayed(line) end
        line.isDue = line.isDue or isDue or host and host.at <= now
        Ask.isLone = Ask.isLone or host and host.member == 'h!'
    end
    if Ask.isLone then Returns.serveLone() end
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
