-- What a claim asks for, what it found at first, and what it will answer. A part of claim.lua, which names the arguments.
local queue = KEYS[2]:sub(#namespace + 3, -7)
local wanted, lease, nonce, worker, channel = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
local mostDead = tonumber(ARGV[8])
hostLimit, hostInterval = tonumber(ARGV[6]), tonumber(ARGV[7])
local MOST_RECOVERED, MOST_FREED, MOST_FLIGHTS, MOST_LOOKED_AT, MOST_HOSTS, LARGEST_LOOK = 100, 500, 16, 1000, 16, 256
local HOST_KEPT, JOBS_TO_SWEEP = 3600000, 4096
local POISON_KEPT = tonumber(ARGV[10])

local settings = call('HMGET', KEYS[2], 'paused', 'priorities')
local isPaused, turnBefore = settings[1] == '1', turn
local workerKey = namespace .. 'worker:' .. worker
local lastClaim = call('GET', workerKey)
hasRules = call('HLEN', namespace .. 'rules') > 0
local held, later, foreign = ofQueue(queue, 'held:'), ofQueue(queue, 'later'), ofQueue(queue, 'foreign')
local freedNow = call('LLEN', namespace .. 'freed')
call('ZCARD', ofQueue(queue, 'idle'))
call('HLEN', leases)
-- What there is in the lines of each priority that was ever used in this queue.
local open, uses = {}, settings[2] or ''
local function lookAtLines()
    for priority, name in ipairs(PRIORITIES) do
        local isUsed = uses:find(priority, 1, true) ~= nil
        open[priority] = {
            isUsed = isUsed,
            ready = isUsed and call('LLEN', ofQueue(queue, 'ready:' .. name)) > 0,
            due = isUsed and #call('ZRANGE', ofQueue(queue, 'due:' .. name), '-inf', now, 'BYSCORE', 'LIMIT', 0, 1) > 0,
        }
    end
end
lookAtLines()

local returned = {}
-- The first six are known at the end.
local answer, givenCount, failedHere, isMore, trouble = {0, 0, 0, 0, 0, 0, {}}, 0, 0, false, nil
local hasWritten = false
local function writing()
    if not hasWritten then writeAlsoWhenFull() end
    hasWritten = true
end

-- What a worker has to know of a batch is told once, however many of its jobs are handed out.
local isTold = {}
local function give(token, job, bytes, page, stale)
    local number = job.batch
    if not isTold[number] then
        isTold[number] = true
        local fields, told = call('HMGET', ofQueue(job.queue, 'batch:' .. number), 'id', 'headers', 'trace'), answer[7]
        local last = #told
        told[last + 1], told[last + 2], told[last + 3], told[last + 4] = number, fields[1], fields[2], fields[3]
    end
    local at = 7 + givenCount * 4
    answer[at + 1], answer[at + 2], answer[at + 3], answer[at + 4] = token, bytes, page, stale
    givenCount = givenCount + 1
end

-- Counts what nobody here can read, and whose batch is therefore not known.
local function countUnread(field, by)
    writing()
    call('HINCRBY', KEYS[2], field, by)
end
