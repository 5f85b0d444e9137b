"""All settings, from the environment alone (see env.py and .env.example)."""

from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF
from psycopg.conninfo import conninfo_to_dict

from .env import ConfigurationError, env_bool, env_int, env_list, env_secret, env_str

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(env_str("MEMORY_HUB_DATA", str(BASE_DIR / "data")))

# True when bin/start made this hub on its own machine: model endpoints on loopback are then allowed.
EMBEDDED = env_bool("MEMORY_HUB_EMBEDDED", False)
DEBUG = env_bool("DEBUG", False)
SECRET_KEY = env_secret("SECRET_KEY")
# Encrypts connection secrets at rest. Several, comma-separated, rotate: the first encrypts, all decrypt.
ENCRYPTION_KEYS = [key.strip() for key in env_secret("ENCRYPTION_KEY").split(",") if key.strip()]

SITE_URL = env_str("SITE_URL", "http://127.0.0.1:8000").rstrip("/")
ALLOWED_HOSTS = env_list("ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]")
CSRF_TRUSTED_ORIGINS = env_list("CSRF_TRUSTED_ORIGINS", SITE_URL)
HTTPS = SITE_URL.startswith("https://")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.staticfiles",
    "django.forms",
    "allauth",
    "allauth.account",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_filters",
    "django_htmx",
    "csp",
    "memory_hub.audit",
    "memory_hub.access",
    "memory_hub.runs",
    "memory_hub.library",
    "memory_hub.recall",
    "memory_hub.review",
    "memory_hub.api",
    "memory_hub.web",
    "agents_runner",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "memory_hub.common.request_id.RequestIdMiddleware",
    "servestatic.middleware.ServeStaticMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "memory_hub.common.one_thread.OneThreadMiddleware",
]

ROOT_URLCONF = "memory_hub.urls"
ASGI_APPLICATION = "memory_hub.asgi.application"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.messages.context_processors.messages",
                "memory_hub.web.context.shell",
            ],
        },
    }
]
FORM_RENDERER = "memory_hub.web.forms.HubFormRenderer"


def _database(url: str) -> dict[str, Any]:
    """Return Django's settings for a libpq URL; unix sockets and percent-encoding included."""
    parts = conninfo_to_dict(url)
    if "dbname" not in parts:
        raise ConfigurationError("DATABASE_URL names no database: postgresql://user:password@host:5432/name")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.pop("dbname"),
        "USER": parts.pop("user", ""),
        "PASSWORD": parts.pop("password", ""),
        "HOST": parts.pop("host", ""),
        "PORT": str(parts.pop("port", "")),
        # A connection that a restart of the database has broken is replaced, not handed to a request.
        "CONN_HEALTH_CHECKS": True,
        # A pool, since ASGI serves each request from another thread; actors are set per transaction.
        "OPTIONS": {
            "pool": {
                "min_size": 1,
                "max_size": env_int("DATABASE_POOL_SIZE", 10),
                "timeout": 10,
                # The pool waits twice as long after each vain attempt, up to this: minutes, if it were its own default,
                # after the database is back.
                "reconnect_timeout": 10,
            },
            **parts,
        },
    }


# Two roles: hub_app serves requests and tasks under row-level security; hub_owner migrates and keeps house.
DATABASE_URL = env_secret("DATABASE_URL")
MIGRATE_DATABASE_URL = env_secret("MIGRATE_DATABASE_URL", DATABASE_URL)
DATABASE_ROLE = env_str("HUB_DATABASE_ROLE", "app")
if DATABASE_ROLE not in ("app", "owner"):
    raise ConfigurationError(f"HUB_DATABASE_ROLE is {DATABASE_ROLE!r}; use app or owner.")
APP_DATABASE_USER = str(conninfo_to_dict(DATABASE_URL).get("user", "hub_app"))
DATABASES = {"default": _database(MIGRATE_DATABASE_URL if DATABASE_ROLE == "owner" else DATABASE_URL)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env_secret("REDIS_URL")
CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}}

AUTH_USER_MODEL = "access.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
ACCOUNT_ADAPTER = "memory_hub.access.accounts.AccountAdapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SESSION_REMEMBER = True
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"

EMAIL_BACKEND = (
    "django.core.mail.backends.smtp.EmailBackend"
    if env_str("EMAIL_HOST", "none") != "none"
    else ("django.core.mail.backends.dummy.EmailBackend")
)
EMAIL_HOST = env_str("EMAIL_HOST", "none")
EMAIL_PORT = env_int("EMAIL_PORT", 587)
EMAIL_HOST_USER = env_str("EMAIL_HOST_USER", "none")
EMAIL_HOST_PASSWORD = env_secret("EMAIL_HOST_PASSWORD", "none")
EMAIL_USE_TLS = env_bool("EMAIL_USE_TLS", True)
DEFAULT_FROM_EMAIL = env_str("DEFAULT_FROM_EMAIL", "memory-hub@localhost")

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
# Served by the finders where nobody ran collectstatic (bin/start); the image collects at build time.
SERVESTATIC_USE_FINDERS = EMBEDDED or DEBUG
SERVESTATIC_AUTOREFRESH = DEBUG

MEDIA_ROOT = DATA_DIR / "files"
MAX_UPLOAD_BYTES = env_int("MAX_UPLOAD_BYTES", 20 * 1024 * 1024)
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SECURE_HSTS_SECONDS = env_int("SECURE_HSTS_SECONDS", 31_536_000 if HTTPS else 0)
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
SECURE_SSL_REDIRECT = HTTPS and env_bool("SECURE_SSL_REDIRECT", True)
BEHIND_PROXY = env_bool("BEHIND_PROXY", False)
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
# Else all who sign in through the proxy would share one address, and one limit on wrong passwords.
ALLAUTH_TRUSTED_PROXY_COUNT = 1 if BEHIND_PROXY else 0
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "connect-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "manifest-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["memory_hub.api.authentication.HubAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_PAGINATION_CLASS": "memory_hub.common.pagination.HubPagination",
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "memory_hub.api.errors.problem_handler",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Memory Hub API",
    "DESCRIPTION": "Everything a person can do in the browser, a key with the right scopes can do here.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "COMPONENT_SPLIT_REQUEST": True,
}

# --- Celery -----------------------------------------------------------------------------------------------
# The longest run decides how long a message may stay unacknowledged before Redis hands it to another worker.
RUN_MAX_SECONDS = env_int("RUN_MAX_SECONDS", 3600, minimum=10)
RUN_LEASE_SECONDS = env_int("RUN_LEASE_SECONDS", 30, minimum=5)
_broker = REDIS_URL.replace("unix://", "redis+socket://", 1) if REDIS_URL.startswith("unix://") else REDIS_URL
CELERY_BROKER_URL = (
    _broker.replace("?db=", "?virtual_host=") if _broker.startswith("redis+socket") else _broker
)
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": RUN_MAX_SECONDS + 600}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TASK_DEFAULT_QUEUE = "memory"
CELERY_TASK_TIME_LIMIT = 900
CELERY_TASK_SOFT_TIME_LIMIT = 840
CELERY_TIMEZONE = "UTC"

# --- Memory Hub -------------------------------------------------------------------------------------------
# auto | bubblewrap | landlock; what a run uses unless its form says otherwise.
SANDBOX_DEFAULT = env_str("SANDBOX", "auto")
# The sample tasks that the form for a new run offers: data that the runner ships.
SAMPLES_FOLDER = BASE_DIR / "agents_runner" / "samples"
# minilm (in the install, no network) | none (words only).
EMBEDDER = env_str("EMBEDDER", "minilm")
# Addresses on loopback or private networks are refused for model endpoints unless the operator allows them.
ALLOW_PRIVATE_MODEL_URLS = env_bool("ALLOW_PRIVATE_MODEL_URLS", EMBEDDED)

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env_str("LOG_LEVEL", "INFO")},
    "loggers": {
        "django.request": {"level": "ERROR"},
        "httpx": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
    },
}
