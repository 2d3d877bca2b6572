-- Which jobs somebody asks for who looks after a queue, and what their lists hold. Part of the scripts in Jobs/, each of which looks at a
-- part of the queue, within a bound.
local queue = KEYS[2]:sub(#namespace + 3, -7)
local LOOK_BACK = 500

-- Jobs of a batch that was cancelled have ended, wherever they lie.
local function isAsked(job, host)
    return job.queue == queue and (host == '' or job.host == host) and not batchOf(queue, job.batch).isGone
end

-- 'ready:<priority>' and 'held:<priority>:<host>' are the queue's, 'parked:<id>' and 'chain:<number>' the namespace's.
local function keyOf(list)
    local isShared = list:sub(1, 7) == 'parked:' or list:sub(1, 6) == 'chain:'
    return isShared and namespace .. list or ofQueue(queue, list), isShared
end

-- The heading that the element at an index stands under. A chunk has a thousand jobs at most, so it is not far.
local function headingAt(key, index)
    for _ = 1, 2 * MOST_AT_ONCE / LOOK_BACK + 1 do
        if index <= 0 then return nil end
        local elements = call('LRANGE', key, max(0, index - LOOK_BACK), index - 1)
        for i = #elements, 1, -1 do
            local kind = byte(elements[i])
            if isHeading(kind) then return elements[i] end
            if not isUnderHeading(elements[i]) and not isJob(kind) then return nil end
        end
        index = index - LOOK_BACK
    end
    return nil
end

-- The jobs among elements, each with its place `at`.
local function jobsAmong(elements, heading)
    local jobs, batch, enqueued, hasHeaders = {}, nil, nil, nil
    local function goesUnder(heading)
        batch, enqueued = unpackBytes('>I4I6', heading, 2)
        hasHeaders = byte(heading) == HEADING_WITH_HEADERS
    end
    if heading then goesUnder(heading) end
    for i, element in ipairs(elements) do
        local kind, job = byte(element), nil
        if isHeading(kind) and #element >= SHORTEST_HEADING then
            goesUnder(element)
        elseif (kind == LEAN or kind == LEAN_WITH_HOST) and #element >= SHORTEST_LEAN then
            local common = {batch = batch, enqueued = enqueued, crashes = 0, failures = 0, throttled = 0, queue = queue, hasHeaders = hasHeaders}
            job = batch and withLean(common, element)
        else
            job = read(element)
            if not job and element ~= DROPPED then batch = nil end
        end
        if job then
            job.at = i
            jobs[#jobs + 1] = job
        end
    end
    return jobs
end

-- What was said of a dead job: class and the rest as PageContent.swift packs it. A job that shared another's failure finds it in the page.
local function reasonOf(job, reason)
    if reason ~= '' then return reason end
    local page = readPage(call('GET', pageOf(job.id)))
    return page and page.isNegative and page.bytes:sub(PAGE_HEADER + 1) or ''
end

local CLASS, FIELDS_AT = 4, 41
local function classOf(reason)
    if #reason < FIELDS_AT then return '' end
    local at = FIELDS_AT + 1
    for _ = 1, reason:byte(FIELDS_AT) % 64 do
        if #reason < at + 2 then return '' end
        local tag, length = unpackBytes('>BI2', reason, at)
        if tag == CLASS then return reason:sub(at + 3, at + 2 + length) end
        at = at + 3 + length
    end
    return ''
end

-- A record of the dead: the job and what was said of it.
local function readDead(record)
    if #record < 20 then return nil end
    local length = unpackBytes('>I4', record, 17)
    local job = read(record:sub(21, 20 + length))
    return job, job and reasonOf(job, record:sub(21 + length))
end
