"""The rehearsal: a scripted model for a hub that has no model yet. It says so wherever its name appears."""

from agents_runner.rehearsal.model import REHEARSAL_MODEL_ID, RehearsalModel, RehearsalRefusedError

__all__ = ["REHEARSAL_MODEL_ID", "RehearsalModel", "RehearsalRefusedError"]
