import RedisClient

extension StateLook {
    /// Reads everything in a namespace, and answers it in numbers: sections, each behind its own number, until a zero.
    static let script = RedisScript(
        #"""
        local namespace, now = ARGV[1], tonumber(ARGV[2])
        local call, pack, unpackBytes = redis.call, struct.pack, struct.unpack
        local QUEUES, PRIORITIES, STATES = {a = 0, b = 1}, {high = 1, normal = 2, low = 3}, {open = 0, closed = 1, cancelled = 2}
        local COUNTS = {'enqueued', 'done', 'failed', 'cancelled', 'active', 'parked', 'delayed', 'fetched', 'revalidated', 'cached',
            'retried', 'crashed', 'fenced', 'doubleFetches', 'bytes', 'paused'}
        local BATCH = {'state', 'offset', 'total', 'done', 'failed', 'cancelled', 'active', 'parked', 'delayed'}
        local out = {}
        local function say(...)
            for i = 1, select('#', ...) do out[#out + 1] = pack('<i8', (select(i, ...))) end
        end
        local function sayText(text) out[#out + 1] = text end
        local function score(text) return text == 'inf' and 2 ^ 52 or tonumber(text) end
        local function channel(name)
            local kind, number = name:match('inbox:(%a)(%d+)$')
            return tonumber(number) + (kind == 'c' and 100 or 0)
        end
        local function read(bytes, list, heading)
            local job = {queue = list, crashes = 0, failures = 0, throttled = 0}
            local lean = bytes
            job.hasHeaders = 0
            if bytes:find('^[JK]') then
                job.hasHeaders = bytes:byte() == 75 and 1 or 0
                local length, rest
                job.batch, job.enqueued, job.crashes, job.failures, job.throttled, length, rest = unpackBytes('>I4I6BBI6B', bytes, 2)
                job.queue = QUEUES[bytes:sub(rest, rest + length - 1)]
                lean = bytes:sub(rest + length)
            else
                job.batch, job.enqueued, job.hasHeaders = heading.batch, heading.enqueued, heading.hasHeaders
            end
            job.id, job.serial = unpackBytes('>I8', lean, 2), tonumber(lean:match('%?(%d+)$'))
            return job
        end
        local function sayJob(job)
            say(job.serial, job.queue, job.batch, job.id, job.enqueued, job.crashes, job.failures, job.throttled, job.hasHeaders)
        end
        local function sayList(key, queue)
            local jobs, heading = {}, nil
            for _, element in ipairs(call('LRANGE', key, 0, -1)) do
                if element:find('^[hH]') then
                    heading = {hasHeaders = element:byte() == 72 and 1 or 0}
                    heading.batch, heading.enqueued = unpackBytes('>I4I6', element, 2)
                elseif element ~= 't' then
                    jobs[#jobs + 1] = read(element, queue, heading)
                end
            end
            say(#jobs)
            for _, job in ipairs(jobs) do sayJob(job) end
        end
        local function fields(key, names)
            local values = call('HMGET', key, unpack(names))
            for i, value in ipairs(values) do values[i] = STATES[value or ''] or tonumber(value or 0) end
            return values
        end

        local ofNamespace = {}
        function ofNamespace.state(key)
            say(1, unpack(fields(key, {'seen', 'shift', 'lived', 'shortest', 'tokens', 'chains'})))
        end
        function ofNamespace.leases(key)
            local flights = call('HGETALL', key)
            say(2, #flights / 2)
            for i = 1, #flights, 2 do
                local token, flight = flights[i], flights[i + 1]
                local kind = flight:sub(1, 1)
                sayText(token)
                say(kind:byte(), (unpackBytes('>I6', flight, 2)), tonumber(call('ZSCORE', namespace .. 'expiry', token) or -1))
                if kind == 'J' or kind == 'C' then
                    sayJob(read(flight:sub(8)))
                    say(tonumber((call('HGET', namespace .. 'moved', token) or 'h-1'):sub(2)))
                else say((unpackBytes('>I8', flight, 8)))
                end
            end
        end
        function ofNamespace.moved(key) say(22, call('HLEN', key)) end
        function ofNamespace.expiry(key) say(3, call('ZCARD', key)) end
        function ofNamespace.lock(key, id)
            say(4, (unpackBytes('>I8', id)))
            sayText(call('GET', key))
        end
        function ofNamespace.page(key, id)
            local version, flags, token, ended, took, fresh = unpackBytes('>BBc16I6I4I4', call('GET', key))
            say(5, (unpackBytes('>I8', id)), flags, ended - took, ended, ended + fresh * 1000, (unpackBytes('B', call('GET', key), 33)))
            sayText(token)
        end
        function ofNamespace.parked(key, id)
            say(6, (unpackBytes('>I8', id)))
            sayList(key, -1)
        end
        function ofNamespace.waiters(key, id)
            local channels = call('SMEMBERS', key)
            say(7, (unpackBytes('>I8', id)), #channels)
            for _, name in ipairs(channels) do say(channel(name)) end
        end
        function ofNamespace.freed(key)
            local records = call('LRANGE', key, 0, -1)
            say(8, #records)
            for _, record in ipairs(records) do
                local number, verdict, began, ended, rest = unpackBytes('>I6BI6I6', record)
                say(number, verdict, began, ended, (unpackBytes('>I8', record, rest)))
            end
        end
        function ofNamespace.chain(key, number)
            say(9, tonumber(number))
            sayList(key, -1)
        end
        function ofNamespace.hosts(key)
            local hosts = call('HGETALL', key)
            say(10, #hosts / 2)
            for i = 1, #hosts, 2 do
                local running, next, cool, failures, level, probing, down, rest = unpackBytes('>I2I6I6BBBI6', hosts[i + 1])
                local marks = {}
                for priority, queue in hosts[i + 1]:sub(rest):gmatch('(%d)([^\n]*)\n') do marks[#marks + 1] = priority + QUEUES[queue] * 10 end
                say(tonumber(hosts[i]:sub(2)), running, next, cool, failures, level, probing, down, #marks, unpack(marks))
            end
        end
        function ofNamespace.rules() end
        function ofNamespace.worker() end
        function ofNamespace.count(key) say(17, 2, unpack(fields(key, COUNTS))) end

        local ofQueue = {}
        function ofQueue.ready(key, queue, priority)
            say(11, queue, PRIORITIES[priority])
            sayList(key, queue)
        end
        function ofQueue.held(key, queue, rest)
            local priority, host = rest:match('(%a+):h(%d+)')
            say(12, queue, PRIORITIES[priority], tonumber(host))
            sayList(key, queue)
        end
        function ofQueue.due(key, queue, priority)
            local due = call('ZRANGE', key, 0, -1, 'WITHSCORES')
            say(13, queue, PRIORITIES[priority], #due / 2)
            for i = 1, #due, 2 do say(tonumber(due[i]:sub(2)), score(due[i + 1])) end
        end
        function ofQueue.later(key, queue)
            local later = call('ZRANGE', key, 0, -1, 'WITHSCORES')
            say(14, queue, #later / 2)
            for i = 1, #later, 2 do
                say(score(later[i + 1]))
                sayText(later[i]:sub(1, 16))
                sayJob(read(later[i]:sub(17)))
            end
        end
        -- Of the dead only those that may be new.
        function ofQueue.dead(key, queue)
            local dead = call('ZRANGE', key, now, '+inf', 'BYSCORE')
            say(15, queue, call('ZCARD', key), #dead)
            for _, record in ipairs(dead) do
                local length, rest = unpackBytes('>I4', record, 17)
                sayJob(read(record:sub(rest, rest + length - 1)))
            end
        end
        function ofQueue.count(key, queue) say(17, queue, unpack(fields(key, COUNTS))) end
        function ofQueue.batches() end
        function ofQueue.batch(key, queue, number) say(18, queue, tonumber(number), unpack(fields(key, BATCH))) end
        function ofQueue.finished(key, queue, number) say(19, queue, tonumber(number), call('LLEN', key)) end
        function ofQueue.ended(key, queue)
            local numbers = call('ZRANGE', key, 0, -1)
            say(20, queue, #numbers)
            for _, number in ipairs(numbers) do say(tonumber(number)) end
        end
        function ofQueue.idle(key, queue)
            local channels = call('ZRANGE', key, 0, -1)
            say(21, queue, #channels)
            for _, name in ipairs(channels) do say(channel(name)) end
        end

        -- What onlookers are told of workers is nothing that a job depends on.
        function ofQueue.workers() end
        function ofQueue.beats() end
        function ofQueue.history() end
        function ofNamespace.queues() end

        for _, key in ipairs(call('KEYS', namespace .. '*')) do
            local name = key:sub(#namespace + 1)
            local queue, kind, rest = name:match('^q:(%a):(%a+):?(.*)$')
            if queue and ofQueue[kind] then
                ofQueue[kind](key, QUEUES[queue], rest)
            else
                local other = name:match('^%a+')
                if not queue and ofNamespace[other] then
                    ofNamespace[other](key, name:sub(#other + 2))
                else
                    say(99, #key)
                    sayText(key)
                end
            end
        end
        say(0)
        return table.concat(out)
        """#)
}
