/* Exchange/settle.lua and Exchange/ends.lua: what a process sends of the URLs and deliveries that it has. */

/* Takes what the first follower that came back has ended, whose worker's lease had ended. */
inline settleLateOf(queue, url) {
    if
    :: verdict == SETTLED && !isDone && len(FOLLOWERS(queue, url)) > 0 ->
        FOLLOWERS(queue, url)?<x>;
        if
        :: FLAG(x) == BACK ->
            FOLLOWERS(queue, url)?x;
            endJob(JOB(x), false);
            isDone = true
        :: else
        fi
    :: else
    fi
}

inline fence(url, mine) {
    verdict = LOST;
    if
    :: form == FETCHED && lock[url].kind != FREE && lock[url].kind != W && lock[url].token > mine -> verdict = FENCED
    :: form == FETCHED && (lock[url].kind == FREE || lock[url].kind == W) && outcome[url] != 0 && outcomeToken[url] > mine -> verdict = FENCED
    :: else
    fi;
    if
    :: verdict == FENCED && p != CALLER -> count[QUEUE_OF_WORKER(p)].fenced++
    :: else
    fi
}

#if FAULT == 1
#define IS_MINE(url, mine) (lock[url].kind != FREE) /* a missing fence: the token is not compared */
#else
#define IS_MINE(url, mine) (lock[url].kind != FREE && lock[url].token == mine)
#endif

inline settleLock(url, mine) {
#if FAULT == 2
    /* A counter moves before it is known whether the outcome is accepted. */
    if
    :: p != CALLER && (form == FETCHED || form == FAIL) -> count[QUEUE_OF_WORKER(p)].atWork--
    :: else
    fi;
#endif
    if
    :: !IS_MINE(url, mine) -> fence(url, mine)
    :: IS_MINE(url, mine) && lock[url].kind == W && form != FETCHED -> verdict = LOST
    :: IS_MINE(url, mine) && lock[url].kind == W && form == FETCHED ->
        verdict = SETTLED;
        accept(url, mine);
        isDone = false;
        if
        :: lock[url].first != 0 -> settleLateOf(lock[url].first - 1, url)
        :: else
        fi;
        if
        :: lock[url].second != 0 -> settleLateOf(lock[url].second - 1, url)
        :: else
        fi;
        release(url, NOW);
        removeLock(url)
    :: IS_MINE(url, mine) && lock[url].kind != W ->
        verdict = SETTLED;
        if
        :: form != BACKED -> lock[url].suspect = false
        :: else
        fi;
        leavePlace(url);
        if
        :: form == FETCHED || form == FAIL ->
            accept(url, mine);
            if
            :: lock[url].kind == L ->
#if FAULT != 2
                count[QUEUE_OF(lock[url].job)].atWork--;
#endif
                endJob(lock[url].job, form == FAIL)
            :: else
            fi;
            release(url, NOW);
            removeLock(url)
        :: form == BACKED || (form == RETRY && lock[url].kind == A) -> comeBack(url, NOW, BACK)
        :: form == RETRY && lock[url].kind == L ->
            lock[url].failures++;
            lock[url].failed = true;
            count[QUEUE_OF(lock[url].job)].retried++;
            comeBack(url, NEXT_TICK, RETRIED)
        fi
    fi
}

inline accept(url, mine) {
    /* An outcome stands for all jobs of this model, so no second fetch of the URL may come to this place. */
    assert(outcome[url] == 0);
    if
    :: form == FETCHED -> fetches[url]++
    :: else
    fi;
    assert(fetches[url] <= 1 + missing[url]);
#if FAULT == 4
    unwritten[url] = (form == FAIL -> 2 : 1); unwrittenToken[url] = mine /* the lock is released, and a call of its own writes the outcome */
#else
    writeOutcome(url, mine, form == FAIL)
#endif
}

inline settleDelivery(theJob, mine) {
    if
    :: deliveredTo[theJob] == 0 || deliveryToken[theJob] != mine -> verdict = LOST
    :: else ->
        verdict = SETTLED;
        if
        :: form == DELIVERED || form == FAIL ->
            deliveredTo[theJob] = 0;
            count[QUEUE_OF(theJob)].atWork--;
            endJob(theJob, form == FAIL)
        :: form == BACKED -> takeBackDelivery(theJob)
        :: form == MISSING ->
            if
            :: outcome[URL_OF(theJob)] == 1 -> outcome[URL_OF(theJob)] = 0; outcomeToken[URL_OF(theJob)] = 0; missing[URL_OF(theJob)]++
            :: else
            fi;
            takeBackDelivery(theJob)
        fi
    fi
}
