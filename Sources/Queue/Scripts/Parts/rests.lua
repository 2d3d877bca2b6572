-- What answers and failures teach about a host: its places, its rests, and whether it is given up. A part of hosts.lua, which runs it in
-- its place.
local FAILURES_TO_COOL, FIRST_COOL, LONGEST_COOL, HOUR, BITS, LONGEST_REASON, UNASKED = 3, 1000, 600000, 3600000, 1048576, 1024, 60000

-- When a host is given up that neither answers nor gets another request. A caller without a patience waits for ever. A rest that began before
-- the caller did costs nothing of the caller's patience.
function Hosts.endsAt(host)
    local patience, since = Hosts.patience, host.down
    if host.failures == 0 then patience, since = Hosts.restPatience, max(host.down, Hosts.began) end
    return host.down > 0 and patience > 0 and since + patience or Hosts.NEVER
end

function Hosts.isGivenUp(host) return host.probing >= Hosts.GIVEN_UP end

-- Whether the jobs of a host fail without a request. Jobs of a host that is given up wait for its next probe, once that may begin.
function Hosts.isHopeless(host) return host.probing == Hosts.ENDING or host.probing == Hosts.GIVEN_UP and host.cool > Clock.now end

-- When a URL is given up that something puts off, without a charge. The clock runs from the caller's beginning where that was later: what
-- an earlier process left is asked for once more.
function Hosts.putOffEnds(lock)
    local isPutOff = lock and lock.throttled > 0 and Hosts.restPatience > 0
    return isPutOff and max(lock.throttled, Hosts.began) + Hosts.restPatience or Hosts.NEVER
end

-- Where and in which hour it is noted that a host has answered.
local function answered(name)
    return tonumber(sub(redis.sha1hex(name), 1, 8), 16) % BITS, floor(Clock.now / HOUR)
end

-- Remembers for an hour or two that a host has answered, whatever else is forgotten of it.
function Hosts.noteAnswer(name)
    local bit, hour = answered(name)
    call('SET', tag .. 'answered:' .. hour, '', 'NX', 'PX', 2 * HOUR)
    call('SETBIT', tag .. 'answered:' .. hour, bit, 1)
end

-- The host has answered, so often.
function Hosts.noteSuccess(host, answers)
    if host.earned == 0 then Hosts.noteAnswer(host.name) end
    host.earned = min(Hosts.MOST_EARNED, host.earned + (answers or 1))
    Hosts.changed(host)
    if host.failures == 0 and host.level == 0 and host.probing == 0 then return end
    host.failures, host.down, host.probing = 0, 0, min(host.probing, 1)
    -- While the host rests, what is answered was asked before: it must start with one request all the same.
    if host.cool <= Clock.now then
        host.level, host.probing, host.reason = 0, 0, ''
    else
        host.earned, host.down = 0, Clock.now
    end
end

-- No request starts for `pause` ms. Without one the pause doubles from rest to rest, and `random`, from 0 to 1, spreads it.
local function coolDown(host, pause, random)
    local isCooling = host.cool > Clock.now
    if not pause then
        -- Requests that were in flight together fail together, and are one reason and not eight.
        if isCooling then return end
        pause = floor(min(LONGEST_COOL, FIRST_COOL * 2 ^ host.level) * (0.5 + random / 2))
    end
    if not isCooling then host.level = min(20, host.level + 1) end
    host.earned, host.cool, host.probing = 0, max(host.cool, Clock.now + pause), max(host.probing, 1)
    Hosts.changed(host)
end

local function reasonOf(content) return #content <= LONGEST_REASON and content or '' end

-- The host answers, and asks for a rest. Where it has gone on with that for too long it is given up.
function Hosts.noteRest(host, pause, random, content)
    if host.down == 0 or host.failures > 0 then host.down, host.probing = Clock.now, min(host.probing, 1) end
    host.failures, host.reason = 0, reasonOf(content)
    Hosts.noteAnswer(host.name)
    if Hosts.endsAt(host) <= Clock.now then host.probing = Hosts.GIVEN_UP end
    coolDown(host, pause, random)
end

-- A request got no answer, for this reason. A host that has answered lately rests after some of these in a row, and is given up after its
-- patience. Any other host rests after each, and is given up after `probes` of them as well. 0 is for ever.
function Hosts.noteFailure(host, random, probes, content)
    if host.failures == 0 then host.down = Clock.now end
    host.earned, host.failures, host.reason = 0, min(255, host.failures + 1), reasonOf(content)
    Hosts.changed(host)
    local bit, hour = answered(host.name)
    local isNew = call('GETBIT', tag .. 'answered:' .. hour, bit) + call('GETBIT', tag .. 'answered:' .. hour - 1, bit) == 0
    if not isNew and host.failures < FAILURES_TO_COOL then return end
    local isOver = Hosts.endsAt(host) <= Clock.now
    if isOver or isNew and probes > 0 and host.failures >= probes then host.probing = Hosts.GIVEN_UP end
    coolDown(host, nil, random)
end

-- A run that begins wants to ask the host. Where somebody asks it now, and rests between, its clock goes on: it gets one request sooner.
-- Otherwise runs that begin one after the other would keep the others waiting for ever.
function Hosts.askAnew(host)
    if Hosts.isGivenUp(host) or host.cool + UNASKED < Clock.now then return Hosts.forgive(host) end
    if host.failures == 0 then return end
    host.cool, host.offered = min(host.cool, Clock.now), 0
    Hosts.changed(host)
end

-- Somebody wants the host asked again: its silence is forgotten. A rest that it asked for stays, if it is not to end, and its time begins anew.
function Hosts.forgive(host, endsRest)
    if host.failures > 0 or endsRest then host.cool = 0 end
    local rests = host.cool > Clock.now
    host.failures, host.down, host.probing, host.offered = 0, rests and Clock.now or 0, rests and 1 or 0, 0
    if not rests then host.level, host.reason = 0, '' end
    Hosts.changed(host)
end
