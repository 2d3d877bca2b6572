/* Parts/hosts.lua and Parts/turns.lua: places, turns, and looking at what stands aside. Rests, rates and operators' rules are left out. */

inline pushFirst(list, element) {
    t = len(list);
    list!element;
    do
    :: t > 0 -> list?x; list!x; t--
    :: else -> break
    od
}

/* Answers in `isEmpty` whether nobody waits, and removes the first who does. */
inline shiftWaiting(at) { host[at].w1 = host[at].w2; host[at].w2 = host[at].w3; host[at].w3 = 0; host[at].offered = 0; changed[at] = true }

inline lookAt(at, who, when) {
    if
    :: who == 1 || who == 2 ->
        if
        :: TIMER_H(who - 1, at) != NONE ->
            if
            :: when <= NOW && needs[at] == 0 -> needs[at] = len(ASIDE(who - 1, at))
            :: else
            fi;
            TIMER_H(who - 1, at) = when;
            NEEDS_H(who - 1, at) = (when <= NOW -> needs[at] : 0)
        :: else
        fi
    :: else
    fi
}

inline offer(at) {
    host[at].offered = NOW + QUARTER;
    changed[at] = true;
    lookAt(at, host[at].w1, NOW);
    lookAt(at, host[at].w2, NOW + QUARTER);
    lookAt(at, host[at].w3, NOW + 2 * QUARTER)
}

inline passOver(at) {
    lookAt(at, host[at].w1, NOW);
    shiftWaiting(at)
}

/* Answers in `room` how many requests `who` may start. */
inline roomFor(at, who) {
    room = 0;
    do
    :: host[at].running >= limit -> break
    :: host[at].running < limit && (host[at].w1 == 0 || host[at].w1 == who) ->
        room = limit - host[at].running;
        if
        :: host[at].w3 != 0 -> room = (room / 3 > 0 -> room / 3 : 1)
        :: host[at].w3 == 0 && host[at].w2 != 0 -> room = (room / 2 > 0 -> room / 2 : 1)
        :: else
        fi;
        break
    :: else ->
        if
        :: host[at].offered == 0 -> offer(at); break
        :: host[at].offered > NOW -> break
        :: else -> passOver(at)
        fi
    od
}

inline waitFor(at, who) {
    if
    :: host[at].offered > 0 && host[at].running >= limit -> host[at].offered = 0; changed[at] = true
    :: else
    fi;
    if
    :: host[at].w1 == who || host[at].w2 == who || host[at].w3 == who
    :: else ->
        changed[at] = true;
        if
        :: host[at].w1 == 0 -> host[at].w1 = who
        :: host[at].w1 != 0 && host[at].w2 == 0 -> host[at].w2 = who
        :: else -> assert(host[at].w3 == 0); host[at].w3 = who
        fi
    fi
}

inline turnTaken(at, who) {
    if
    :: host[at].w1 != 0 && host[at].w1 == who ->
        shiftWaiting(at);
        if
        :: who == LONE
        :: who != LONE ->
            if
            :: len(ASIDE(who - 1, at)) > 0 -> waitFor(at, who)
            :: else
            fi
        fi
    :: else
    fi
}

/* A request starts; `who` is 0 where nobody's turn was taken. */
inline enter(at, who) {
    host[at].running++;
    changed[at] = true;
    assert(host[at].running <= limit);
    if
    :: who != 0 -> turnTaken(at, who)
    :: else
    fi
}

inline leave(at) {
#if FAULT == 7
    changed[at] = true /* a request that ended keeps its place */
#else
    assert(host[at].running > 0);
    host[at].running--;
    changed[at] = true
#endif
}

inline saveHosts() {
    k = 0;
    do
    :: k < HOSTS && changed[k] ->
        if
        :: host[k].offered > 0 && host[k].offered <= NOW && host[k].w1 != 0 -> passOver(k)
        :: else
        fi;
        if
        :: host[k].w1 != 0 && host[k].offered == 0 && host[k].running < limit -> offer(k)
        :: else
        fi;
        assert(host[k].w1 != 0 || host[k].offered == 0);
        changed[k] = false;
        freed[k] = false;
        needs[k] = 0;
        k++
    :: k < HOSTS && !changed[k] -> freed[k] = false; needs[k] = 0; k++
    :: else -> break
    od
}

/* At the end of what stands aside at a host, or at its head. */
inline putAside(queue, at, isFirst, element) {
    score = (host[at].running >= limit -> NEXT_TICK : 0);
    isEmpty = len(ASIDE(queue, at)) == 0;
    if
    :: isFirst -> pushFirst(ASIDE(queue, at), element)
    :: else -> ASIDE(queue, at)!element
    fi;
    waitFor(at, queue + 1);
    if
    :: isEmpty -> TIMER_H(queue, at) = score; NEEDS_H(queue, at) = 0
    :: else
    fi
}
