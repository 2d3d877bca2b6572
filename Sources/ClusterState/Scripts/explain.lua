-- All that is known of a URL and its host. Changes nothing.
--
-- KEYS  1 '{namespace}state'
-- ARGV  1 id   2 host
-- Answer: {queue time, page or nothing, the lock's token or nothing, its flight's kind, when that began, ms until it ends, the queue and
--          the batch of its job, followers, callers that wait; requests in flight to the host, its next start, the end of its cool-down,
--          failures to connect in a row, whether it is probed; its rule or nothing}
local id, host = ARGV[1], readHost(ARGV[2], call('HGET', namespace .. 'hosts', ARGV[2]))
local lock = call('GET', lockOf(id))
local kind, began, left, queue, batch = '', 0, 0, '', 0
local flight = lock and call('HGET', leases, lock)
if flight then
    kind, began = flight:sub(1, 1), unpackBytes('>I6', flight, 2)
    left = max(0, tonumber(call('ZSCORE', expiry, lock) or 0) - lived)
    local job = kind == 'J' and read(flight, 8)
    if job then queue, batch = job.queue, job.batch end
end
return {
    now, call('GET', pageOf(id)) or '', lock or '', kind, began, left, queue, batch,
    call('LLEN', namespace .. 'parked:' .. id), call('SCARD', namespace .. 'waiters:' .. id),
    host.running, host.next, host.cool, host.failures, host.probing, call('HGET', namespace .. 'rules', ARGV[2]) or '',
}
