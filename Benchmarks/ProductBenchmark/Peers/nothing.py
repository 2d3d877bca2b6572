"""Jobs for RQ that do nothing. Its worker imports this file; run as a program, it enqueues so many of them at a Redis."""

import sys


def nothing(url):
    pass


if __name__ == "__main__":
    from redis import Redis
    from rq import Queue

    queue = Queue(connection=Redis.from_url(sys.argv[1]))
    count = int(sys.argv[2])
    for first in range(0, count, 1000):
        numbers = range(first, min(first + 1000, count))
        queue.enqueue_many([Queue.prepare_data("nothing.nothing", (f"http://127.0.0.1/path/{number}",)) for number in numbers])
