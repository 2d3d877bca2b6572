--@ clock lists blocks counts hosts locks
-- Sets the pace of a host, and asks whether a request may start by it that has its place there already.
--
-- KEYS  1 '<tag>state'
-- ARGV  1 the host   2 its pace, from 0 to 63   3 whether a request asks to start
-- Answer: {queue time, the pace before, ms until a request may start: 0 where it may, and then it has}
Clock.writeAlsoWhenFull()
local host = Hosts.changed(Hosts.of(ARGV[1]))
local before = host.pace
-- A host with a pace has a last start, by which it is forgotten in time.
host.pace, host.next = tonumber(ARGV[2]), host.next > 0 and host.next or Clock.now
local wait = max(0, host.next - Clock.now)
if ARGV[3] == '1' and wait == 0 then Hosts.enter(host, 0) end
Locks.finish()
return {Clock.now, before, wait}
