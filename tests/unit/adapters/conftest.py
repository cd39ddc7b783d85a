import pytest

from support.hostile_web import HostileWeb


@pytest.fixture
async def web():
    async with HostileWeb() as web:
        yield web
