--@ clock
-- Notes that a worker lives and what it says of itself, and now and then how far its queue has come. No transition of a job has anything to
-- do with this: what is lost of it is lost to onlookers alone. It is kept in the home partition, and FetchQueue+Overview.swift reads it:
--
--   '<q>queue', a hash   'worker:<name>'   time(6), and what the worker said last, which WorkerRecord.swift writes and reads
--                        'history'   samples, the youngest last: time(6) done(6) failed(6) bytes(6) open(6)
--                        'intent:<what>'   since when a loop over partitions is under way; FetchQueue+Intents.swift writes and removes it
--   '<tag>state', a hash 'queue:<name>'   when a worker of that queue said something last: of the queues heard of last
--
-- KEYS  1 '<tag>state'   2 '<q>queue'
-- ARGV  1 the worker   2 what it says of itself, or nothing when it leaves   3 to 6 jobs done, failed, their bytes, and open in other partitions
-- Answer: {jobs accepted here, jobs that have ended, intents that are older than half a minute, each before its value}
local SILENT_KEPT, MOST_WORKERS, MOST_QUEUES, QUEUE_KEPT, OLD_INTENT = 600000, 1000, 100, 900000, 30000
-- A quarter of an hour. Somewhat less than the time between a worker's heartbeats, so that none of a single worker's is passed over.
local BETWEEN, MOST_SAMPLES, SAMPLE, FIELDS_BESIDES, AT_ONCE = 4000, 180, 30, 40, 50
local worker, record, mark, now = 'worker:' .. ARGV[1], ARGV[2], 'queue:' .. KEYS[2]:sub(#tag + 3, -7), Clock.now
local fields = call('HMGET', KEYS[2], 'enqueued', 'done', 'failed', 'cancelled', 'bytes', 'history', 'beats')
local accepted, done, failed, history = tonumber(fields[1] or 0), tonumber(fields[2] or 0), tonumber(fields[3] or 0), fields[6] or ''
local ended = done + failed + (fields[4] or 0)
local page, gone, intents = call('HSCAN', KEYS[2], fields[7] or '0', 'COUNT', AT_ONCE), {}, {}
for i = 1, #page[2], 2 do
    local name, value = page[2][i], page[2][i + 1]
    local kind = name:match('^%l+:')
    if kind == 'worker:' and name ~= worker and (#value < 6 or unpackBytes('>I6', value) < now - SILENT_KEPT) then gone[#gone + 1] = name end
    if kind == 'intent:' and tonumber(value:match('^%d+') or 0) < now - OLD_INTENT then
        intents[#intents + 1], intents[#intents + 2] = name, value
    end
end
local isKnown = call('HEXISTS', KEYS[1], mark) == 1

Clock.writeAlsoWhenFull()
if record == '' then gone[#gone + 1] = worker end
if #gone > 0 then call('HDEL', KEYS[2], unpack(gone)) end
if record ~= '' and (call('HEXISTS', KEYS[2], worker) == 1 or call('HLEN', KEYS[2]) < MOST_WORKERS + FIELDS_BESIDES) then
    call('HSET', KEYS[2], worker, pack('>I6', now) .. record)
end
if #history < SAMPLE or now - unpackBytes('>I6', history, #history - SAMPLE + 1) >= BETWEEN then
    local sample = pack('>I6I6I6I6I6', now, max(0, done + ARGV[3]), max(0, failed + ARGV[4]), max(0, (fields[5] or 0) + ARGV[5]),
        max(0, accepted - ended + ARGV[6]))
    call('HSET', KEYS[2], 'history', sub(history .. sample, -MOST_SAMPLES * SAMPLE))
end
call('HSET', KEYS[2], 'beats', page[1])
if record ~= '' then call('HSET', KEYS[1], mark, now) end
if record ~= '' and not isKnown then
    local all, names, first, oldest = call('HGETALL', KEYS[1]), 0, nil, now
    for i = 1, #all, 2 do
        local heard = sub(all[i], 1, 6) == 'queue:' and tonumber(all[i + 1])
        if heard and heard < now - QUEUE_KEPT then call('HDEL', KEYS[1], all[i]) elseif heard then names = names + 1 end
        if heard and heard < oldest then first, oldest = all[i], heard end
    end
    if names > MOST_QUEUES and first then call('HDEL', KEYS[1], first) end
end
Clock.save()
return {accepted, ended, intents}
