-- Jobs as they lie in lists, and the lists themselves. JobEntry.swift writes and reads the same.
--
--   'j' id(16) offset(1) length(1) url        a lean entry; offset and length show the host inside the URL
--   'x' id(16) length(1) host url             the same where the host does not stand in the URL as it is compared
--   'h' batch(4) enqueued(6)                  a heading: what the lean entries right after it have in common
--   'J' batch(4) enqueued(6) crashes(1) failures(1) throttled(6) length(1) queue lean
--                                             a job by itself, as it is when it has left the line for the first time
--   'H', 'K'                                  the same as 'h' and 'J', of a batch that has request headers: its jobs are fetched with them
--                                             or not at all, so that versions that know of none must not take them for others
--   't'                                       a job was here and was deleted: taken out, it would have cost a walk through the list
-- The first byte is the format's version and kind in one. A list begins with a heading or a job by itself. Elements that begin with
-- another byte were written by a newer version: they go to the queue's list of foreign ones as they are, for a worker that reads them.
local LEAN, LEAN_WITH_HOST, HEADING, JOB, HEADING_WITH_HEADERS, JOB_WITH_HEADERS = 106, 120, 104, 74, 72, 75
local DROPPED = 't'
local SHORTEST_LEAN, SHORTEST_HEADING, SHORTEST_JOB = 20, 11, 40
local PRIORITIES = {'high', 'normal', 'low'}

local function ofQueue(queue, name) return namespace .. 'q:' .. queue .. ':' .. name end

local function isHeading(kind) return kind == HEADING or kind == HEADING_WITH_HEADERS end
local function isJob(kind) return kind == JOB or kind == JOB_WITH_HEADERS end

local function headingOf(batch, enqueued, hasHeaders) return (hasHeaders and 'H' or 'h') .. pack('>I4I6', batch, enqueued) end

local function hostIn(lean)
    local offset, length = byte(lean, 18, 19)
    if byte(lean, 1) == LEAN then return sub(lean, 20 + offset, 19 + offset + length) end
    return sub(lean, 19, 18 + offset)
end

-- Fills in what the lean part of a job says.
local function withLean(job, lean)
    job.lean, job.id, job.host = lean, lean:sub(2, 17), hostIn(lean)
    return job
end

-- A job by itself, from a byte on; nil when a newer version wrote it.
local function read(bytes, at)
    at = at or 1
    local form = bytes:byte(at)
    if not isJob(form) or #bytes < at + SHORTEST_JOB - 1 then return nil end
    local batch, enqueued, crashes, failures, throttled, length, rest = unpackBytes('>I4I6BBI6B', bytes, at + 1)
    local lean = bytes:sub(rest + length)
    local kind = lean:byte(1)
    if (kind ~= LEAN and kind ~= LEAN_WITH_HOST) or #lean < SHORTEST_LEAN then return nil end
    local job = {
        batch = batch, enqueued = enqueued, crashes = crashes, failures = failures, throttled = throttled,
        queue = bytes:sub(rest, rest + length - 1), hasHeaders = form == JOB_WITH_HEADERS,
    }
    return withLean(job, lean)
end

-- As much of a job as it takes to end it: whose it is, and its host.
local function readBriefly(bytes, at)
    if not isJob(byte(bytes, at)) then return nil end
    local batch, length = unpackBytes('>I4', bytes, at + 1), byte(bytes, at + 19)
    local queue, lean = sub(bytes, at + 20, at + 19 + length), at + 20 + length
    local kind, offset, size = byte(bytes, lean), byte(bytes, lean + 17, lean + 18)
    if kind == LEAN then
        return {batch = batch, queue = queue, host = sub(bytes, lean + 19 + offset, lean + 18 + offset + size)}
    elseif kind == LEAN_WITH_HOST then
        return {batch = batch, queue = queue, host = sub(bytes, lean + 18, lean + 17 + offset)}
    end
    return nil
end

local function prefixOf(job)
    local numbers = pack('>I4I6BBI6B', job.batch, job.enqueued, job.crashes, job.failures, job.throttled, #job.queue)
    return (job.hasHeaders and 'K' or 'J') .. numbers .. job.queue
end

-- Jobs under one heading share the prefix; one that has changed since has none.
local function written(job) return (job.prefix or prefixOf(job)) .. job.lean end

-- Reads the elements of one of `queue`'s lists, from its head. Answers the jobs, the heading that goes on for the elements after
-- these, and the elements nobody here can read, each group of them behind the heading it was found under.
local function readLine(queue, elements)
    local jobs, foreign, heading, common = {}, {}, nil, nil
    local isForeign = false
    for i = 1, #elements do
        local element = elements[i]
        local kind = byte(element)
        if (kind == LEAN or kind == LEAN_WITH_HOST) and #element >= SHORTEST_LEAN then
            if isForeign or not heading then
                foreign[#foreign + 1] = element
            else
                jobs[#jobs + 1] = setmetatable({lean = element, id = sub(element, 2, 17), host = hostIn(element)}, common)
            end
        elseif isHeading(kind) and #element >= SHORTEST_HEADING then
            local shared = {crashes = 0, failures = 0, throttled = 0, queue = queue, heading = element}
            shared.hasHeaders = kind == HEADING_WITH_HEADERS
            shared.batch, shared.enqueued = unpackBytes('>I4I6', element, 2)
            shared.prefix = prefixOf(shared)
            heading, isForeign, common = element, false, {__index = shared}
        elseif element ~= DROPPED then
            local job = read(element)
            if job then
                jobs[#jobs + 1] = job
            else
                -- It may be a heading of a new kind: the lean entries after it are as foreign.
                if heading and not isForeign then foreign[#foreign + 1] = heading end
                foreign[#foreign + 1], isForeign = element, true
            end
        end
    end
    return jobs, heading, foreign, isForeign
end

-- Whether an element stands under the heading before it.
local function isUnderHeading(element)
    local kind = byte(element)
    return kind == LEAN or kind == LEAN_WITH_HOST or element == DROPPED
end

-- The elements for a list that holds these jobs in this order. A heading is said again behind a job by itself: who reads a list up to
-- there sees only that job next, and could not tell that lean entries behind it need the heading.
local function line(jobs)
    local elements, heading = {}, nil
    for _, job in ipairs(jobs) do
        if job.heading then
            if job.heading ~= heading then elements[#elements + 1], heading = job.heading, job.heading end
            elements[#elements + 1] = job.lean
        else
            elements[#elements + 1], heading = written(job), nil
        end
    end
    return elements
end

local MOST_AT_ONCE = 1000
local function pushBack(key, elements)
    for i = 1, #elements, MOST_AT_ONCE do
        call('RPUSH', key, unpack(elements, i, min(i + MOST_AT_ONCE - 1, #elements)))
    end
end

local function pushFront(key, elements)
    local reversed = {}
    for i = #elements, 1, -1 do reversed[#reversed + 1] = elements[i] end
    for i = 1, #reversed, MOST_AT_ONCE do
        call('LPUSH', key, unpack(reversed, i, min(i + MOST_AT_ONCE - 1, #reversed)))
    end
end
