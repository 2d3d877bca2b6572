"""A proxy between the program and Redis, which delays, falls silent, and cuts connections at random bytes, both ways."""

import asyncio
import threading


class Proxy:
    """Runs in a thread of its own. `mode` holds for all connections, old and new."""

    def __init__(self, port, random):
        self.target, self.random, self.cuts = port, random, 0
        self.mode, self.delay, self.every = "pass", 0.0, 0
        self.writers = set()
        self.loop = asyncio.new_event_loop()
        started = threading.Event()
        threading.Thread(target=self.run, args=[started], daemon=True).start()
        started.wait()

    def run(self, started):
        async def main():
            server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
            self.port = server.sockets[0].getsockname()[1]
            self.silence = asyncio.Event()
            self.silence.set()
            started.set()
            await server.serve_forever()

        self.loop.run_until_complete(main())

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}"

    def set(self, mode, delay=0.0, every=0):
        """`pass`; `delay`: each piece by so many seconds; `silent`: no byte passes; `cut`: after about so many bytes of one way."""

        def change():
            self.mode, self.delay, self.every = mode, delay, every
            (self.silence.clear if mode == "silent" else self.silence.set)()

        self.loop.call_soon_threadsafe(change)

    def cut_all(self):
        def cut():
            for writer in list(self.writers):
                writer.transport.abort()

        self.loop.call_soon_threadsafe(cut)

    async def serve(self, reader, writer):
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        pair = {writer, back}
        self.writers |= pair
        await asyncio.gather(self.pump(reader, back, pair), self.pump(there, writer, pair))
        self.writers -= pair

    async def pump(self, reader, writer, pair):
        """Ends both ways when one has ended. A cut lets a part of a piece through."""
        left = None
        try:
            while piece := await reader.read(65536):
                await self.silence.wait()
                if self.mode == "delay":
                    await asyncio.sleep(self.delay)
                if self.mode == "cut":
                    left = self.random.randrange(2 * self.every) if left is None else left
                    if len(piece) >= left:
                        self.cuts += 1
                        writer.write(piece[:left])
                        await writer.drain()
                        # The bytes before the cut shall arrive.
                        await asyncio.sleep(0.01)
                        break
                    left -= len(piece)
                else:
                    left = None
                writer.write(piece)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        for each in pair:
            each.transport.abort()
