-- Looks whether each host's count of requests in flight is right.
--
-- KEYS  1 '{namespace}state'
-- ARGV  1 whether to mend
-- Answer: {0, findings}
local size = call('HLEN', leases) + call('HLEN', namespace .. 'hosts')
if size > MOST_IN_ONE_STEP then
    note('notChecked', 'requests in flight to hosts: ' .. size .. ' flights and hosts')
    return {'0', report()}
end
local running = {}
local flights = call('HVALS', leases)
for _, flight in ipairs(flights) do
    if flight:sub(1, 1) == 'J' then
        local job = readBriefly(flight, 8)
        if not job then
            note('notChecked', 'requests in flight to hosts: some are a newer version\'s')
            return {'0', report()}
        end
        running[job.host] = (running[job.host] or 0) + 1
        if not hosts[job.host] then readHost(job.host, nil) end
    end
end
local known = call('HGETALL', namespace .. 'hosts')
for i = 1, #known, 2 do readHost(known[i], known[i + 1]) end
for name, host in pairs(hosts) do
    local number = running[name] or 0
    if host.running ~= number then
        local example = 'the host ' .. name .. ': ' .. number .. ' in flight where ' .. host.running .. ' are counted'
        if finds('hostCount', example) then
            changed(host).running = number
            announce(host)
            for _, queue in host.marks:gmatch('(%d)([^\n]*)\n') do wake(queue, 1) end
        end
    end
end
saveHosts()
return {'0', report()}
