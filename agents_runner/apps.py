from django.apps import AppConfig


class AgentsRunnerConfig(AppConfig):
    name = "agents_runner"
    label = "agents_runner"
