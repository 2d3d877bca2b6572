"""Fetches the URLs of a list into a folder with aiohttp: files.py LIST FOLDER IN_FLIGHT."""

import asyncio
import sys

import aiohttp
import uvloop


async def fetch(session, urls, folder):
    for url in urls:
        async with session.get(url) as response:
            response.raise_for_status()
            body = await response.read()
        with open(f"{folder}/{url.rsplit('/', 1)[1]}", "wb") as file:
            file.write(body)


async def main(path, folder, in_flight):
    with open(path) as file:
        urls = iter(file.read().split())
    # One session for all requests, and as many connections as requests.
    connector = aiohttp.TCPConnector(limit=in_flight)
    async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar()) as session:
        await asyncio.gather(*(fetch(session, urls, folder) for _ in range(in_flight)))


uvloop.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
