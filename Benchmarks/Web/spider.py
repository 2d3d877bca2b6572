"""Scrapy for a list: spider.py LIST FOLDER writes each body into FOLDER. The settings are those that its page about broad crawls advises."""

import hashlib
import pathlib
import sys

import scrapy
from scrapy.crawler import CrawlerProcess


class Bodies(scrapy.Spider):
    name = "bodies"

    async def start(self):
        for url in pathlib.Path(sys.argv[1]).read_text().split():
            yield scrapy.Request(url)

    def parse(self, response):
        name = hashlib.sha256(response.request.url.encode()).hexdigest()
        pathlib.Path(sys.argv[2], name).write_bytes(response.body)


if __name__ == "__main__":
    pathlib.Path(sys.argv[2]).mkdir(exist_ok=True)
    process = CrawlerProcess(
        {
            "ROBOTSTXT_OBEY": True,
            "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
            "CONCURRENT_REQUESTS": 100,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
            "DOWNLOAD_DELAY": 0,
            "DOWNLOAD_TIMEOUT": 30,
            "REACTOR_THREADPOOL_MAXSIZE": 20,
            "LOG_LEVEL": "ERROR",
            "COOKIES_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
        }
    )
    process.crawl(Bodies)
    process.start()
