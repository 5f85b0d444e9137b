# The image of every service of the hub: web server, workers, beat, migration. See docs/deploy.md.

FROM python:3.12-slim-bookworm AS build
COPY requirements.lock /build/
# Bytecode is compiled afterwards, so that it does not depend on the times of files, and a few files that packages ship
# for other Pythons (compileall reports them) do not matter.
RUN python -m venv --without-pip /opt/venv \
    && python -m pip --disable-pip-version-check --python /opt/venv/bin/python install \
        --no-cache-dir --no-compile --require-hashes -r /build/requirements.lock
RUN /opt/venv/bin/python -m compileall -q --invalidation-mode unchecked-hash /opt/venv/lib || true

FROM python:3.12-slim-bookworm
# Agent code runs on this interpreter, in a sandbox that writes nothing: without bytecode every run would compile the
# standard library anew, and the base image comes without it.
RUN python -m compileall -q --invalidation-mode unchecked-hash -x 'test|lib2to3' /usr/local/lib/python3.12
# One group, so that services can share files; a user for each that runs agent code, since the sandbox's limit on
# processes counts all processes of a user on the machine, those of other containers too.
RUN groupadd --gid 10001 hub \
    && useradd --uid 10001 --gid hub --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin hub \
    && useradd --uid 10002 --gid hub --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin hub-runs \
    && useradd --uid 10003 --gid hub --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin hub-memory \
    && install -d -o hub -g hub -m 2770 /data /data/files /data/files/runs /data/files/check_inputs
COPY --from=build /opt/venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONPATH=/app:/app/client \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    HOME=/tmp \
    MEMORY_HUB_DATA=/data
WORKDIR /app
COPY . .
# Readable for everybody whatever the modes in the clone were, writable for root alone. The settings ask for addresses
# and keys; these are for this step only and lead nowhere.
RUN SECRET_KEY=only-for-this-step-and-never-at-run-time-0000 \
    ENCRYPTION_KEY=MDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDA= \
    DATABASE_URL=postgresql://nobody@nowhere.invalid/none \
    REDIS_URL=redis://nowhere.invalid/0 \
    python manage.py collectstatic --noinput --verbosity 0 \
    && python -m compileall -q --invalidation-mode unchecked-hash /app \
    && chmod -R u=rwX,go=rX /app
USER hub
VOLUME /data
EXPOSE 8000
ENTRYPOINT ["/app/docker/entrypoint.sh"]
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "/app/docker/healthcheck.py", "/livez"]
# No proxy headers but from the addresses in FORWARDED_ALLOW_IPS (uvicorn's own variable; loopback by default).
CMD ["python", "-m", "uvicorn", "memory_hub.asgi:application", "--host", "0.0.0.0", "--port", "8000", \
     "--lifespan", "off", "--timeout-graceful-shutdown", "5", "--no-access-log", "--no-server-header"]
