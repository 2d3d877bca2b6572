-- Notes that a worker lives and what it says of itself, and now and then how far its queue has come.
--
-- Whoever asks later finds the last minutes here without having watched them. It is bounded whatever the number of workers, and no
-- transition of a job has anything to do with it: what is lost of it is lost to onlookers alone.
--
--   '<queue>workers', a hash      worker to what it said last; WorkerRecord.swift writes and reads that
--   '<queue>beats', a sorted set  worker to when it said so, in queue time
--   '<queue>history', a list      time(6) done(6) failed(6) bytes(6) open(6), the youngest last
--   'queues', a sorted set        the namespace's queues to when a worker of theirs said something: those heard of last
-- All four are forgotten a quarter of an hour after the last heartbeat.
--
-- KEYS  1 '{namespace}state'   2 '{namespace}q:<queue>:count'
-- ARGV  1 the worker   2 what it says of itself, or nothing when it leaves
-- Answer: {jobs accepted, jobs that have ended, those delayed, those held for hosts, how many hosts}
local KEPT, SILENT_KEPT, MOST_WORKERS, MOST_DROPPED = 900000, 600000, 1000, 10
-- A quarter of an hour. Somewhat less than the time between a worker's heartbeats, so that one of a single worker's is not passed over.
local BETWEEN, MOST_SAMPLES, MOST_QUEUES = 4000, 180, 100
local queue, worker, record = KEYS[2]:sub(#namespace + 3, -7), ARGV[1], ARGV[2]
local workers, beats, history = ofQueue(queue, 'workers'), ofQueue(queue, 'beats'), ofQueue(queue, 'history')
local queues = namespace .. 'queues'
call('HLEN', workers)
call('ZCARD', queues)
local isKnown, number = call('ZSCORE', beats, worker), call('ZCARD', beats)
local last = call('LINDEX', history, -1)
local fields = call('HMGET', KEYS[2], 'enqueued', 'done', 'failed', 'cancelled', 'bytes', 'active', 'parked', 'delayed')
for i = 1, 8 do fields[i] = tonumber(fields[i] or 0) end
local accepted, done, failed, cancelled, bytes, active, parked, delayed = unpack(fields)
local ended = done + failed + cancelled
local held, hosts = heldIn(queue, accepted - ended - active - parked - delayed)

writeAlsoWhenFull()
local silent = call('ZRANGE', beats, '-inf', now - SILENT_KEPT, 'BYSCORE', 'LIMIT', 0, MOST_DROPPED)
if record == '' then silent[#silent + 1] = worker end
if #silent > 0 then
    call('ZREM', beats, unpack(silent))
    call('HDEL', workers, unpack(silent))
end
if record ~= '' and (isKnown or number - #silent < MOST_WORKERS) then
    call('ZADD', beats, now, worker)
    call('HSET', workers, worker, record)
end
local lastTime = last and #last >= 6 and unpackBytes('>I6', last)
if not lastTime or now - lastTime >= BETWEEN then
    call('RPUSH', history, pack('>I6I6I6I6I6', now, max(0, done), max(0, failed), max(0, bytes), max(0, accepted - ended)))
    call('LTRIM', history, -MOST_SAMPLES, -1)
end
if record ~= '' then
    call('ZADD', queues, now, queue)
    call('ZREMRANGEBYRANK', queues, 0, -MOST_QUEUES - 1)
elseif accepted <= ended and call('ZCARD', beats) == 0 then
    call('ZREM', queues, queue)
end
for _, key in ipairs({workers, beats, history, queues}) do call('PEXPIRE', key, KEPT) end
return {accepted, ended, delayed, held, hosts}
