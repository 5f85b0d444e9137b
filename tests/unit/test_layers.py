"""Foreign keys obey the order of the rooms, as imports do (pyproject.toml, lint-imports)."""

import pytest
from django.apps import apps

ROOMS = ["audit", "access", "runs", "library", "recall", "review", "api"]


@pytest.mark.parametrize("room", ROOMS)
def test_foreign_keys_point_downward_or_stay_in_their_room(room: str) -> None:
    allowed = set(ROOMS[: ROOMS.index(room) + 1])
    for model in apps.get_app_config(room).get_models():
        for field in model._meta.get_fields():
            if field.is_relation and not field.auto_created and field.related_model is not None:
                target = field.related_model._meta.app_label
                assert target in allowed, f"{model.__name__}.{field.name} points up to {target}"


def test_the_audit_trail_points_at_nothing_above_it() -> None:
    for model in apps.get_app_config("audit").get_models():
        targets = {
            field.related_model._meta.app_label
            for field in model._meta.get_fields()
            if field.is_relation and field.related_model is not None
        }
        assert targets <= {"audit"}


def test_every_model_is_in_a_room_that_is_named_here() -> None:
    ours = {model._meta.app_label for model in apps.get_models() if model.__module__.startswith("memory_hub")}
    assert ours == set(ROOMS)
