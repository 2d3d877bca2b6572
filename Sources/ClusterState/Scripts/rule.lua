--@ clock blocks counts hosts
-- Sets or clears an operator's rule for a host or a domain. What it says outranks every worker's settings.
--
-- KEYS  1 '<tag>state'
-- ARGV  1 a host, or '*.' and a domain: each host of the domain by itself   2 'limit interval pausedUntil', each of which may be empty, or
--       nothing to clear the rule
-- Answer: 1 it is set, 0 there was none to clear, -1 there are too many rules
local MOST_RULES = 1000
local key, field = tag .. 'hosts', '=' .. ARGV[1]
local isKnown = call('HEXISTS', key, field)
if ARGV[2] == '' then
    if isKnown == 0 then return 0 end
    Clock.writeAlsoWhenFull()
    call('HDEL', key, field)
    Clock.rules = Clock.rules - 1
else
    if isKnown == 0 and Clock.rules >= MOST_RULES then return -1 end
    call('HSET', key, field, ARGV[2])
    Clock.rules = Clock.rules + 1 - isKnown
end
-- Jobs that wait for the host are looked at under the new rule. Those of a domain's hosts are within half a minute.
Hosts.limit = Hosts.NEVER
local host = Hosts.of(ARGV[1])
if host.waiting[1] then Hosts.changed(host).offered = 0 end
Hosts.save()
Clock.save()
return 1
