/* Exchange/handOut.lua, and returns.lua with its parts: what a worker of queue `q` gets. One priority, and blocks of one job. */

#define HAS_OUTCOME(url) (outcome[url] != 0)

/* What the incarnation's suspects weigh, and whether it has nothing. */
inline weigh(who) {
    weight = 0; isEmpty = true; k = 0;
    do
    :: k < URLS ->
        if
        :: (lock[k].kind == L || lock[k].kind == A) && lock[k].owner == who ->
            isEmpty = false;
            if
            :: lock[k].kind == L && lock[k].suspect && lock[k].crashes < 3 -> weight = weight + (lock[k].crashes > 1 -> 9 : 1)
            :: else
            fi
        :: else
        fi;
        k++
    :: else -> break
    od;
    k = 0;
    do
    :: k < JOBS ->
        if
        :: deliveredTo[k] == who + 1 -> isEmpty = false
        :: else
        fi;
        k++
    :: else -> break
    od
}

inline deliver(theJob) {
    assert(deliveredTo[theJob] == 0);
    deliveredTo[theJob] = inc + 1;
    deliveryToken[theJob]++;
    count[q].atWork++;
    if
    :: most < mostBesides -> wanted++; most++
    :: else
    fi;
    handed++;
    KNOWS_JOB(p, theJob) = GIVEN;
    KNOWN_JOB_TOKEN(p, theJob) = deliveryToken[theJob];
    printf(" D%d,%d", theJob, deliveryToken[theJob])
}

/* A lock is the worker's from now on. */
inline give(url, theJob) {
    lastToken[url]++;
    lock[url].kind = L; lock[url].owner = inc; lock[url].token = lastToken[url]; lock[url].job = theJob; lock[url].began = 0;
    count[q].atWork++;
    handed++;
    KNOWS(p, url) = GIVEN;
    KNOWN_TOKEN(p, url) = lastToken[url];
    printf(" L%d,%d", theJob, lastToken[url])
}

/* Begins with a job that no worker has seen. */
inline start(theJob, taker) {
    if
    :: HAS_OUTCOME(URL_OF(theJob)) -> deliver(theJob)
    :: !HAS_OUTCOME(URL_OF(theJob)) && lock[URL_OF(theJob)].kind != FREE ->
        FOLLOWERS(q, URL_OF(theJob))!theJob;
        count[q].parked++;
        noteFollower(URL_OF(theJob), q)
    :: else ->
        enter(HOST_OF(URL_OF(theJob)), taker);
        give(URL_OF(theJob), theJob);
        fromReady++
    fi
}

inline roomAt(at) {
    roomFor(at, q + 1);
    if
    :: handed < wanted || room == 0
    :: else -> room--
    fi
}

/* Serves from the first `n` elements of a list of jobs. Answers in `isDone` whether that changed the list. */
inline serve(list, isAside) {
    share = (handed < wanted && wanted - handed < share -> wanted - handed : share);
    pickedCount = 0; fullCount = 0; seen = 0; stop = false;
    rooms[0] = NONE; rooms[1] = NONE;
    do
    :: seen < n && !stop && len(list) > 0 ->
        list?<x>;
        if
        :: x >= URL(0) -> stop = true
        :: else ->
            h = HOST_OF(URL_OF(x));
            seen++;
            if
            :: rooms[h] == NONE -> roomAt(h)
            :: else -> room = rooms[h]
            fi;
            if
            :: room > 0 && pickedCount < share -> rooms[h] = room - 1; list?picked[pickedCount]; pickedCount++
            :: room == 0 && !isAside && rooms[h] == NONE -> list?fullJobs[fullCount]; fullCount++
            :: else -> stop = true
            fi
        fi
    :: else -> break
    od;
    k = 0;
    do
    :: k < pickedCount -> start(picked[k], (isAside -> 0 : q + 1)); k++
    :: else -> break
    od;
    k = 0;
    do
    :: k < fullCount -> putAside(q, HOST_OF(URL_OF(fullJobs[k])), false, fullJobs[k]); k++
    :: else -> break
    od;
    isDone = pickedCount + fullCount > 0
}

inline lookAtReady() {
    earlier = handed;
    n = (size > 1 -> size : goal - handed);
    n = (n > len(ready[q]) -> len(ready[q]) : n);
    if
    :: n == 0 -> isReady = false
    :: else ->
        i = n;
        share = goal - handed;
        serve(ready[q], false);
        if
        :: handed >= goal
        :: else ->
            size = (handed == earlier -> i * 4 : ((goal - handed) * i + seen - 1) / (seen > 0 -> seen : 1));
            size = (size < 2 -> 2 : size)
        fi
    fi
}

#define AT_TIMERS 0
#define AT_ASIDE 1
#define AT_LONE 2

/* Carries a URL on that has followers. Answers in `isDone` whether it is done with where it was met. */
inline carryOn(url, met) {
    isDone = true;
    if
    :: met != AT_TIMERS && TIMER_U(q, url) == NONE
    :: (met == AT_TIMERS || TIMER_U(q, url) != NONE) && len(FOLLOWERS(q, url)) == 0 -> stopFollowing(url, q)
    :: (met == AT_TIMERS || TIMER_U(q, url) != NONE) && len(FOLLOWERS(q, url)) > 0 ->
        if
        :: HAS_OUTCOME(url) ->
            n = (most - handed < len(FOLLOWERS(q, url)) -> most - handed : len(FOLLOWERS(q, url)));
            do
            :: n > 0 ->
                FOLLOWERS(q, url)?x;
                uncount(x);
                deliver(JOB(x));
                n--
            :: else -> break
            od;
            if
            :: len(FOLLOWERS(q, url)) == 0 -> stopFollowing(url, q)
            :: else
            fi;
            isDone = false
        :: !HAS_OUTCOME(url) && (lock[url].kind == L || lock[url].kind == A) ->
            noteFollower(url, q);
            TIMER_U(q, url) = NEVER
        :: !HAS_OUTCOME(url) && lock[url].kind == W && lock[url].began > NOW -> TIMER_U(q, url) = lock[url].began
        :: else -> tryToStart(url, met)
        fi
    fi
}

inline uncount(follower) {
    if
    :: FLAG(follower) == PARKED -> count[q].parked--
    :: FLAG(follower) == RETRIED -> count[q].delayed--
    :: else
    fi
}

/* Three workers died with it, and nobody makes a request for it; or two, and it is alone in its worker. */
#define IS_HOPELESS(url) (lock[url].crashes >= 3)
#define IS_LONE(url) (lock[url].suspect && lock[url].crashes == 2)

inline tryToStart(url, met) {
    h = HOST_OF(url);
    weigh(inc);
    isEmpty = isEmpty && handed == 0;
    room = 1;
    if
    :: !IS_HOPELESS(url) -> roomFor(h, (met == AT_LONE -> LONE : q + 1))
    :: else
    fi;
    if
    :: room == 0 ->
        if
        :: met == AT_ASIDE -> isDone = false
        :: met == AT_LONE -> waitFor(h, LONE); isDone = false
        :: met == AT_TIMERS -> putAside(q, h, true, URL(url)); TIMER_U(q, url) = NEVER
        fi
    :: room > 0 && IS_LONE(url) && !isEmpty ->
        if
        :: met == AT_LONE -> isDone = false
        :: else -> lone[q]!url; timerLone[q] = true; isMore = true; TIMER_U(q, url) = NEVER
        fi
    :: else ->
        FOLLOWERS(q, url)?x;
        uncount(x);
        lock[url].noPlace = IS_HOPELESS(url);
        give(url, JOB(x));
        if
        :: !IS_HOPELESS(url) -> enter(h, (met == AT_ASIDE -> 0 : (met == AT_LONE -> LONE : q + 1)))
        :: else
        fi;
        if
        :: IS_LONE(url) -> most = handed; wanted = handed; isSpent = true; isHeldBack = true
        :: else
        fi;
        if
        :: len(FOLLOWERS(q, url)) == 0 -> TIMER_U(q, url) = NONE; forgetInterest(url, q)
        :: else -> noteFollower(url, q); TIMER_U(q, url) = NEVER
        fi
    fi
}

#define IS_OVER (handed >= goal || isSpent)

inline serveAside(at) {
    beforeAside = handed;
    stop = false;
    do
    :: !IS_OVER && !stop ->
        roomAt(at);
        if
        :: room == 0 || len(ASIDE(q, at)) == 0 -> stop = true
        :: else ->
            ASIDE(q, at)?<x>;
            if
            :: x >= URL(0) ->
                ASIDE(q, at)?x;
                u = x - URL(0);
                carryOn(u, AT_ASIDE);
                if
                :: !isDone ->
                    pushFirst(ASIDE(q, at), URL(u));
                    stop = handed == beforeAside
                :: else
                fi
            :: else ->
                n = (room < goal - handed -> room : goal - handed);
                share = goal - handed;
                serve(ASIDE(q, at), true);
                stop = !isDone
            fi
        fi
    :: else -> break
    od;
    if
    :: handed > beforeAside -> turnTaken(at, q + 1)
    :: else
    fi;
    if
    :: len(ASIDE(q, at)) == 0 -> TIMER_H(q, at) = NONE; NEEDS_H(q, at) = 0
    :: else ->
        needs[at] = len(ASIDE(q, at));
        waitFor(at, q + 1);
        if
        :: host[at].w1 == q + 1 -> host[at].offered = 0; changed[at] = true
        :: else
        fi;
        if
        :: host[at].running >= limit -> TIMER_H(q, at) = NEXT_TICK; NEEDS_H(q, at) = 0
        :: else -> roomFor(at, q + 1); TIMER_H(q, at) = (room > 0 -> NOW : NOW + QUARTER); NEEDS_H(q, at) = (room > 0 -> needs[at] : 0)
        fi
    fi
}

/* URLs that two workers died with: a worker that has nothing takes one, and nothing else. */
inline serveLone() {
    i = len(lone[q]);
    do
    :: i > 0 ->
        weigh(inc);
        if
        :: !isEmpty || handed > 0 || isSpent -> i = 0
        :: else ->
            lone[q]?u;
            carryOn(u, AT_LONE);
            if
            :: !isDone -> lone[q]!u
            :: else
            fi;
            i--
        fi
    :: else -> break
    od;
    if
    :: len(lone[q]) == 0 -> timerLone[q] = false; alone[q] = 0
    :: else ->
        if
        :: alone[q] != 0 && alone[q] != inc + 1 && lease[alone[q] - 1] > tick && !takenBack[alone[q] - 1]
        :: else -> alone[q] = inc + 1; isHeldBack = true
        fi
    fi;
    if
    :: isHeldBack -> most = handed; wanted = handed
    :: else
    fi
}

inline serveURL(url) {
    do
    :: carryOn(url, AT_TIMERS);
        if
        :: isDone || IS_OVER -> break
        :: else
        fi
    od
}

/* The member of two that is due first; 0 stands before 1 where the times are the same. NONE is neither. */
#define FIRST_OF(a, b) (a > NOW && b > NOW -> NONE : (b < a -> 1 : 0))
#define SECOND_OF(a, b) (a > NOW || b > NOW -> NONE : (b < a -> 0 : 1))
#define IS_ANY_DUE (timerLone[q] || TIMER_U(q, 0) <= NOW || TIMER_U(q, 1) <= NOW || TIMER_H(q, 0) <= NOW || TIMER_H(q, 1) <= NOW)

/* When a host is due, by its needs earlier. */
#define NOT_DUE 10000
#define DUE_AT(h) (TIMER_H(q, h) > NOW -> NOT_DUE : TIMER_H(q, h) * 8 - NEEDS_H(q, h))
#define FIRST_OF_DUE(a, b) (a == NOT_DUE && b == NOT_DUE -> NONE : (b < a -> 1 : 0))
#define SECOND_OF_DUE(a, b) (a == NOT_DUE || b == NOT_DUE -> NONE : (b < a -> 0 : 1))

/* A host whose requests have ended in this call is due now. */
inline noteFreed(at) {
    if
    :: freed[at] && len(ASIDE(q, at)) > 0 ->
        needs[at] = len(ASIDE(q, at));
        if
        :: DUE_AT(at) > NOW * 8 - needs[at] -> TIMER_H(q, at) = NOW; NEEDS_H(q, at) = needs[at]
        :: else
        fi
    :: else
    fi;
    freed[at] = false
}

/*
 * What is due, until `goal` jobs are handed out: URLs that come back, then what stands aside at hosts: first at the one that needs the longest for it.
 * spin bounds the length of a d_step, so that this is several.
 */
inline serveDue() {
    d_step {
        beforeDue = handed;
        visits[0] = FIRST_OF(TIMER_U(q, 0), TIMER_U(q, 1));
        visits[1] = SECOND_OF(TIMER_U(q, 0), TIMER_U(q, 1));
        j = 0
    };
    do
    :: j < 2 ->
        if
        :: visits[j] != NONE && !IS_OVER -> d_step { u = visits[j]; serveURL(u); skip }
        :: else
        fi;
        j++
    :: else -> break
    od;
    skip;
    d_step {
        noteFreed(0);
        noteFreed(1);
        due[0] = DUE_AT(0);
        due[1] = DUE_AT(1);
        visits[2] = FIRST_OF_DUE(due[0], due[1]);
        visits[3] = SECOND_OF_DUE(due[0], due[1])
    };
    do
    :: j < 4 ->
        if
        :: visits[j] != NONE && !IS_OVER -> d_step { v = visits[j]; serveAside(v); skip }
        :: else
        fi;
        j++
    :: else -> break
    od;
    isDue = IS_OVER || (handed > beforeDue && IS_ANY_DUE)
}

inline handOut() {
    isReady = true;
    isDue = isDue || IS_ANY_DUE;
    if
    :: timerLone[q] -> d_step { serveLone(); skip }
    :: else
    fi;
    do
    :: handed < most && (isReady || isDue) && !isSpent ->
        goal = most;
        size = 1;
        do
#if FAULT == 6
        :: handed < goal && !isSpent && isReady -> d_step { lookAtReady(); skip } /* jobs that never ran go before those that came back */
        :: handed < goal && !isSpent && !isReady && isDue -> serveDue()
#else
        :: handed < goal && !isSpent && isDue -> serveDue()
        :: handed < goal && !isSpent && !isDue && isReady -> d_step { lookAtReady(); skip }
#endif
        :: else -> break
        od
    :: else -> break
    od
}
