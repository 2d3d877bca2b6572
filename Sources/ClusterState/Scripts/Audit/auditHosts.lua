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
local flights, led = call('HGETALL', leases), {}
local hops = call('HGETALL', moved)
for i = 1, #hops, 2 do led[hops[i]] = hops[i + 1] end
for i = 1, #flights, 2 do
    local token, flight = flights[i], flights[i + 1]
    if flight:sub(1, 1) == 'J' then
        local job = readBriefly(flight, 8)
        if not job then
            note('notChecked', 'requests in flight to hosts: some are a newer version\'s')
            return {'0', report()}
        end
        local name = led[token] or job.host
        running[name] = (running[name] or 0) + 1
        if not hosts[name] then readHost(name, nil) end
        led[token] = nil
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
for token, name in pairs(led) do
    if finds('strayMove', 'the host ' .. name .. ': a request is said to have been led there that is none') then call('HDEL', moved, token) end
end
saveHosts()
return {'0', report()}
