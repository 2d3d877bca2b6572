"""Pages for Scrapy: pages.py REDIS IN_FLIGHT takes URLs from a list in Redis and puts each page into Redis, by scrapy-redis' own parts.

The settings are those that Scrapy's page about broad crawls advises, and a batch of scrapy-redis is large, because a spider that has
done its batch waits for the next.
"""

import sys

from scrapy.crawler import CrawlerProcess
from scrapy_redis.spiders import RedisSpider


class Pages(RedisSpider):
    name = "pages"
    redis_key = "pages:start_urls"
    redis_batch_size = 1000

    def parse(self, response):
        return {"url": response.url, "body": response.text}


if __name__ == "__main__":
    in_flight = int(sys.argv[2])
    process = CrawlerProcess(
        {
            "REDIS_URL": sys.argv[1],
            "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
            "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
            "SCHEDULER_QUEUE_CLASS": "scrapy_redis.queue.FifoQueue",
            "ITEM_PIPELINES": {"scrapy_redis.pipelines.RedisPipeline": 300},
            "CONCURRENT_REQUESTS": in_flight,
            "CONCURRENT_REQUESTS_PER_DOMAIN": in_flight,
            "DOWNLOAD_DELAY": 0,
            "REACTOR_THREADPOOL_MAXSIZE": 20,
            "LOG_LEVEL": "ERROR",
            "COOKIES_ENABLED": False,
            "RETRY_ENABLED": False,
            "REDIRECT_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
        }
    )
    process.crawl(Pages)
    process.start()
