"""Case N4, as the machine counts it: a process that fetches hostile answers never holds 32 MB more than before."""

import asyncio
import json
import sys

from support.hostile_web import HostileWeb

ROOM = 32_000  # KB, for whatever comes
PATHS = ["/bomb/gzip", "/bomb/chained", "/bomb/zstd", "/endless", "/one-line", "/huge-headers"]

READS = """
import asyncio, json, resource, sys
import httpcore2
from lumina.adapters.net.doors import Doors
from lumina.adapters.net.pools import Surroundings
from lumina.adapters.pages.reader import WebPageReader

port, paths = int(sys.argv[1]), sys.argv[2:]

class Below(httpcore2.AsyncNetworkBackend):
    async def connect_tcp(self, host, port_, *rest, **more):
        return await httpcore2.AnyIOBackend().connect_tcp("127.0.0.2", port, *rest, **more)

async def resolver(name, port_):
    return ["93.184.216.34"]

def held():
    # KB at most. What getrusage says of a child of a large process is, on Linux, the parent's.
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

async def main():
    doors = Doors(around=Surroundings(resolver=resolver, network=Below()))
    reader = WebPageReader(doors.web)
    await reader.read("http://good.test/warm")
    before = held()
    for path in paths:
        read = await reader.read("http://good.test" + path)
        print(json.dumps([path, held() - before, getattr(read, "text", "")[:9], getattr(read, "reason", "")]))
    await reader.aclose()
    await doors.aclose()

asyncio.run(main())
"""


async def test_N4_a_page_costs_at_most_32_megabytes_whatever_its_server_sends() -> None:
    """The machine counts the most that a process ever held, so what is asked of each is asked of all together."""
    async with HostileWeb() as web:
        web.page("/warm", "words")
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-c", READS, str(web.places[80][1]), *PATHS, stdout=asyncio.subprocess.PIPE
        )
        out, _ = await child.communicate()
    assert child.returncode == 0
    told = [json.loads(line) for line in out.splitlines()]
    assert [path for path, _, text, reason in told if text or reason] == PATHS
    assert {path: more for path, more, *_ in told if more > ROOM} == {}
