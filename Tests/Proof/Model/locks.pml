/* Parts/locks.lua and Parts/comeBack.lua: who has a URL, who follows it, and what comes back. */

inline newLease(who) {
    if
    :: lease[who] == 0 || lease[who] > tick -> lease[who] = tick + LEASE
    :: else
    fi
}

#define IS_INTERESTED(url, queue) (lock[url].first == (queue) + 1 || lock[url].second == (queue) + 1)
/* When followers look at a URL by themselves. A deadline is further away than this model goes. */
#define LOOKS_AT(url) (lock[url].kind == W -> lock[url].began : NEVER)

inline noteFollower(url, queue) {
#if FAULT != 5
    if
    :: IS_INTERESTED(url, queue) ->
        if
        :: TIMER_U(queue, url) == NONE -> TIMER_U(queue, url) = LOOKS_AT(url)
        :: else
        fi
    :: else ->
        if
        :: lock[url].first == 0 -> lock[url].first = queue + 1
        :: else -> lock[url].second = queue + 1
        fi;
        TIMER_U(queue, url) = LOOKS_AT(url)
    fi
#else
    TIMER_U(queue, url) = LOOKS_AT(url) /* the lock does not learn of its follower */
#endif
}

inline forgetInterest(url, queue) {
    if
    :: lock[url].first == queue + 1 -> lock[url].first = lock[url].second; lock[url].second = 0
    :: lock[url].first != queue + 1 && lock[url].second == queue + 1 -> lock[url].second = 0
    :: else
    fi
}

inline removeLock(url) {
    lock[url].kind = FREE; lock[url].owner = 0; lock[url].token = 0; lock[url].job = 0; lock[url].crashes = 0; lock[url].failures = 0;
    lock[url].began = 0; lock[url].suspect = false; lock[url].noPlace = false; lock[url].failed = false;
    lock[url].first = 0; lock[url].second = 0
}

/* Nobody of the queue follows the URL any more. */
inline stopFollowing(url, queue) {
    TIMER_U(queue, url) = NONE;
    forgetInterest(url, queue);
    if
    :: lock[url].kind == W && lock[url].first == 0 -> removeLock(url)
    :: else
    fi
}

inline release(url, when) {
    if
    :: lock[url].first != 0 -> TIMER_U(lock[url].first - 1, url) = when
    :: else
    fi;
    if
    :: lock[url].second != 0 -> TIMER_U(lock[url].second - 1, url) = when
    :: else
    fi
}

inline leavePlace(url) {
    if
    :: lock[url].kind == L && !lock[url].noPlace -> leave(HOST_OF(url))
    :: else
    fi
}

inline comeBack(url, when, flag) {
    if
    :: lock[url].kind == L ->
        count[QUEUE_OF(lock[url].job)].atWork--;
#if FAULT == 3
        FOLLOWERS(QUEUE_OF(lock[url].job), url)!(lock[url].job + flag); /* a job that comes back is put last */
#else
        pushFirst(FOLLOWERS(QUEUE_OF(lock[url].job), url), lock[url].job + flag);
#endif
        if
        :: flag == RETRIED -> count[QUEUE_OF(lock[url].job)].delayed++
        :: else
        fi;
        noteFollower(url, QUEUE_OF(lock[url].job))
    :: else
    fi;
    if
    :: lock[url].first == 0 -> removeLock(url)
    :: else ->
        lock[url].kind = W; lock[url].owner = 0; lock[url].job = 0; lock[url].began = when; lock[url].noPlace = false;
        release(url, when)
    fi
}

inline takeBackLock(url, isDead) {
    leavePlace(url);
    if
    :: lock[url].kind == L && isDead ->
        lock[url].crashes++;
        lock[url].suspect = true;
        count[QUEUE_OF(lock[url].job)].crashed++
    :: else
    fi;
    comeBack(url, NOW, BACK)
}

inline takeBackDelivery(theJob) {
    deliveredTo[theJob] = 0;
    count[QUEUE_OF(theJob)].atWork--;
    pushFirst(FOLLOWERS(QUEUE_OF(theJob), URL_OF(theJob)), theJob + BACK);
    TIMER_U(QUEUE_OF(theJob), URL_OF(theJob)) = NOW
}

inline takeBackFrom(who) {
    k = 0;
    do
    :: k < URLS ->
        if
        :: (lock[k].kind == L || lock[k].kind == A) && lock[k].owner == who -> takeBackLock(k, true)
        :: else
        fi;
        k++
    :: else -> break
    od;
    k = 0;
    do
    :: k < JOBS ->
        if
        :: deliveredTo[k] == who + 1 -> takeBackDelivery(k)
        :: else
        fi;
        k++
    :: else -> break
    od;
    takenBack[who] = true
}

/* At most two processes, those whose leases ended first. */
inline takeBackEnded() {
    n = 0;
    do
    :: n < 2 ->
        n++;
        order1 = NONE; i = 0;
        do
        :: i < INCARNATIONS ->
            if
            :: lease[i] != 0 && lease[i] <= tick && !takenBack[i] && (order1 == NONE || lease[i] < lease[order1]) -> order1 = i
            :: else
            fi;
            i++
        :: else -> break
        od;
        if
        :: order1 != NONE -> isMore = true; takeBackFrom(order1)
        :: else -> n = 2
        fi
    :: else -> break
    od
}

inline endJob(theJob, isFailure) {
    ends[theJob]++;
    if
    :: isFailure -> count[QUEUE_OF(theJob)].failed++
    :: else -> count[QUEUE_OF(theJob)].done++
    fi
}

inline writeOutcome(url, mine, isFailure) {
    outcome[url] = (isFailure -> 2 : 1);
    outcomeToken[url] = mine
}
