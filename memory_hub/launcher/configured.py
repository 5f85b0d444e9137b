"""Ask configured services whether they are there, before anything is started upon them."""

import psycopg
import redis

from memory_hub.env import ConfigurationError, env_secret

CONNECT_SECONDS = 5


def check_services(*, database: bool, redis_too: bool) -> None:
    """Raise ConfigurationError, with the variable's name, where a configured address does not answer."""
    if database:
        for name in ("DATABASE_URL", "MIGRATE_DATABASE_URL"):
            try:
                psycopg.connect(env_secret(name), connect_timeout=CONNECT_SECONDS).close()
            except psycopg.Error as error:
                raise ConfigurationError(f"{name} does not work: {_one_line(error)}") from error
    if redis_too:
        try:
            client = redis.Redis.from_url(env_secret("REDIS_URL"), socket_connect_timeout=CONNECT_SECONDS)
            client.ping()
            client.close()
        except (redis.RedisError, ValueError) as error:
            raise ConfigurationError(f"REDIS_URL does not work: {_one_line(error)}") from error


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
