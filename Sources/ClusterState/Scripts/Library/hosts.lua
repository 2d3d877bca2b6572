-- Hosts: how many requests are in flight to each, and when the next may start. Politeness is decided here, for all workers.
--
--   'hosts', a hash   host to running(2) next(6) cool(6) failures(1) level(1) probing(1) down(6) marks; only while there
--                     is something to remember. 'next' follows from a rate, 'cool' from a cool-down, both in queue time; 'failures' are
--                     those to connect, in a row, since 'down'; 'level' doubles the next cool-down; after one a single request
--                     probes the host. One that is probed in vain for too long is given up (2): it is still probed, and jobs that
--                     would have to wait for that fail.
--                     The marks name the lines that hold jobs for the host: priority and queue, each in front of a newline.
--   'rules', a hash   host to 'limit interval', the interval in ms; an operator's word, before any worker's
--   'moved', a hash   token to the host that a job's request has been led to: its place is there, and not at the job's own host
--   '<queue>held:<priority>:<host>', a list   jobs that a claim met while their host could take no more
--   '<queue>due:<priority>', a sorted set   host to when its held jobs may next start; without end while all its places are taken
local FAILURES_TO_COOL, FIRST_COOL, LONGEST_COOL, GIVEN_UP = 5, 1000, 600000, 2
local NEVER = 'inf'
local hosts, changedHosts = {}, {}

local function readHost(name, bytes)
    local host = {name = name, running = 0, next = 0, cool = 0, failures = 0, level = 0, probing = 0, down = 0, marks = ''}
    if bytes then
        local rest
        host.running, host.next, host.cool, host.failures, host.level, host.probing, host.down, rest = unpackBytes('>I2I6I6BBBI6', bytes)
        host.marks = bytes:sub(rest)
    end
    hosts[name] = host
    return host
end

-- Fetches what is known of the jobs' hosts, in one call.
local function loadHosts(jobs)
    local names, isNamed = {}, {}
    local number = 0
    for i = 1, #jobs do
        local name = jobs[i].host
        if not hosts[name] and not isNamed[name] then
            number = number + 1
            names[number], isNamed[name] = name, true
        end
    end
    if number == 0 then return end
    local known = call('HMGET', namespace .. 'hosts', unpack(names))
    for i = 1, number do readHost(names[i], known[i]) end
end

local function hostOf(name) return hosts[name] or readHost(name, call('HGET', namespace .. 'hosts', name)) end

local function changed(host)
    changedHosts[host.name] = host
    return host
end

-- What a host may take for which no rule is stored, and whether any is: set by the scripts that begin requests.
local hostLimit, hostInterval, hasRules = 0, 0, false
local rules = {}
local function ruleOf(name)
    if not hasRules then return hostLimit, hostInterval end
    if not rules[name] then
        local limit, interval = (call('HGET', namespace .. 'rules', name) or ''):match('^(%d+) (%d+)$')
        rules[name] = {tonumber(limit) or hostLimit, tonumber(interval) or hostInterval}
    end
    return rules[name][1], rules[name][2]
end

-- When a host may start another request, while `taken` more than it knows of are about to start.
local function opensAt(host, taken)
    local limit, interval = ruleOf(host.name)
    if host.probing > 0 then limit = 1 end
    if host.running + taken >= limit then return NEVER end
    local next = (taken > 0 and interval > 0) and now + interval or host.next
    return max(host.cool, next)
end

local function isOpen(host, taken)
    local at = opensAt(host, taken)
    return at ~= NEVER and at <= now
end

-- A request begins.
local function enterHost(host)
    changed(host).running = host.running + 1
    local _, interval = ruleOf(host.name)
    if interval > 0 then host.next = now + interval end
end

local function saveHosts()
    local set, gone = {}, {}
    for name, host in pairs(changedHosts) do
        if host.running == 0 and host.next <= now and host.cool <= now and host.failures == 0 and host.level == 0
            and host.probing == 0 and host.marks == '' then
            gone[#gone + 1] = name
        else
            set[#set + 1], set[#set + 2] = name, pack('>I2I6I6BBBI6', host.running, host.next, host.cool, host.failures, host.level,
                host.probing, host.down) .. host.marks
        end
    end
    if #set > 0 then call('HSET', namespace .. 'hosts', unpack(set)) end
    if #gone > 0 then call('HDEL', namespace .. 'hosts', unpack(gone)) end
    changedHosts = {}
end

-- A line, by its priority's number and its queue, holds no jobs for the host any more.
local function unmark(host, priority, queue)
    local from, to = ('\n' .. host.marks):find('\n' .. priority .. queue .. '\n', 1, true)
    if from then changed(host).marks = host.marks:sub(1, from - 1) .. host.marks:sub(to) end
end

local function isGivenUp(host) return host.probing == GIVEN_UP end

-- Lets the lines that hold jobs for a host be looked at again, when that is possible. A queue whose keys somebody else has
-- overwritten hears of that from its own claims.
local function announce(host)
    if host.marks == '' then return end
    local at = isGivenUp(host) and now or max(now, host.next, host.cool)
    for priority, queue in host.marks:gmatch('(%d)([^\n]*)\n') do
        redis.pcall('ZADD', ofQueue(queue, 'due:' .. PRIORITIES[tonumber(priority)]), 'XX', at, host.name)
    end
end

-- A request has ended, with nothing learnt about the host.
local function leaveHost(name)
    local host = changed(hostOf(name))
    host.running = max(0, host.running - 1)
    announce(host)
    return host
end

-- The hosts to which the requests of these jobs have been led, by token; most often there is none.
local moved = namespace .. 'moved'
local function hostsMovedTo(names)
    if #names == 0 or call('EXISTS', moved) == 0 then return {} end
    local found, hostOfToken = call('HMGET', moved, unpack(names)), {}
    for i, token in ipairs(names) do hostOfToken[token] = found[i] or nil end
    return hostOfToken
end

-- A job's request has ended, wherever it was.
local function leavePlace(token, job)
    local name = call('HGET', moved, token)
    if name then call('HDEL', moved, token) end
    return leaveHost(name or job.host)
end

-- No request starts for `pause` ms. Without one the pause doubles from cool-down to cool-down, and `random`, from 0 to 1, spreads it.
local function coolDown(host, pause, random)
    local isCooling = host.cool > now
    if not pause then
        -- Requests that were in flight together fail together, and are one reason and not eight.
        if isCooling then return end
        pause = floor(min(LONGEST_COOL, FIRST_COOL * 2 ^ host.level) * (0.5 + random / 2))
    end
    if not isCooling then host.level = min(20, host.level + 1) end
    host.cool, host.probing = max(host.cool, now + pause), max(host.probing, 1)
    changed(host)
    announce(host)
end

local function noteSuccess(host)
    if host.failures == 0 and host.level == 0 and host.probing == 0 then return end
    host.failures, host.down, host.probing = 0, 0, min(host.probing, 1)
    -- While the host cools down, what is answered was asked before: it must start with one request all the same.
    if host.cool <= now then host.level, host.probing = 0, 0 end
    changed(host)
end

-- Nobody waits for longer than `patience` ms for a host that takes no connection; 0 is for ever.
local function noteFailure(host, random, patience)
    if host.failures == 0 then host.down = now end
    host.failures = min(255, host.failures + 1)
    changed(host)
    if host.failures < FAILURES_TO_COOL then return end
    if patience > 0 and now - host.down >= patience then host.probing = GIVEN_UP end
    coolDown(host, nil, random)
    if isGivenUp(host) then announce(host) end
end
