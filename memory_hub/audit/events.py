"""Every kind of audit event, named "subject:action", with the sentence that the audit page shows."""

from enum import StrEnum


class Event(StrEnum):
    """What happened. A service records exactly one of these; the outermost service records."""

    SIGNED_IN = "session:started"
    SIGN_IN_FAILED = "session:refused"
    SIGNED_OUT = "session:ended"
    PASSWORD_CHANGED = "user:password_changed"
    USER_CREATED = "user:created"
    TEAM_CREATED = "team:created"
    TEAM_MEMBER_ADDED = "team_member:added"
    TEAM_MEMBER_CHANGED = "team_member:changed"
    TEAM_MEMBER_REMOVED = "team_member:removed"
    PROJECT_CREATED = "project:created"
    PROJECT_CHANGED = "project:changed"
    MEMBER_ADDED = "member:added"
    MEMBER_CHANGED = "member:changed"
    MEMBER_REMOVED = "member:removed"
    INVITATION_CREATED = "invitation:created"
    INVITATION_REVOKED = "invitation:revoked"
    INVITATION_ACCEPTED = "invitation:accepted"
    KEY_CREATED = "key:created"
    KEY_REVOKED = "key:revoked"
    CONNECTION_CREATED = "connection:created"
    CONNECTION_CHANGED = "connection:changed"
    CONNECTION_DELETED = "connection:deleted"
    RUN_STARTED = "run:started"
    RUN_CANCELLED = "run:cancelled"
    RUN_ENDED = "run:ended"
    RUN_RECORDED = "run:recorded"
    RUN_CAPTURED = "run:captured"
    SOLUTION_PROPOSED = "solution:proposed"
    SOLUTION_FOUND_AGAIN = "solution:found_again"
    SOLUTION_CHANGED = "solution:changed"
    SOLUTION_ARCHIVED = "solution:archived"
    SOLUTION_UNARCHIVED = "solution:unarchived"
    SOLUTION_DELETED = "solution:deleted"
    SOLUTION_RATED = "solution:rated"
    SOLUTION_MERGED = "solution:merged"
    MERGE_PROPOSED = "merge:proposed"
    MERGE_DECLINED = "merge:declined"
    REVISION_REFINED = "revision:refined"
    REVISION_APPROVED = "revision:approved"
    REVISION_REJECTED = "revision:rejected"
    REVISION_DEPRECATED = "revision:deprecated"
    REVISION_VERIFIED = "revision:verified"
    VERIFICATION_REQUESTED = "revision:verification_requested"
    CHECK_CHANGED = "revision:check_changed"
    EVIDENCE_REPORTED = "evidence:reported"
    LINK_ADDED = "link:added"
    LESSON_RECORDED = "lesson:recorded"
    LESSON_DELETED = "lesson:deleted"
    RECALLED = "recall:made"
    RECALL_OUTCOME = "recall:outcome_reported"
    GAP_RECORDED = "gap:recorded"
    GAP_CLOSED = "gap:closed"
    GAP_DISMISSED = "gap:dismissed"
    CODE_READ = "solution:read"

    @property
    def sentence(self) -> str:
        """What the actor did, as in "started a run"."""
        return _SENTENCES[self]

    @property
    def label(self) -> str:
        """The event by itself, as in "Run started"."""
        return self.value.replace("_", " ").replace(":", " ").capitalize()


_SENTENCES = {
    Event.SIGNED_IN: "signed in",
    Event.SIGN_IN_FAILED: "refused a sign-in",
    Event.SIGNED_OUT: "signed out",
    Event.PASSWORD_CHANGED: "changed the password",
    Event.USER_CREATED: "made the account",
    Event.TEAM_CREATED: "made the team",
    Event.TEAM_MEMBER_ADDED: "added to the team",
    Event.TEAM_MEMBER_CHANGED: "changed the role in the team",
    Event.TEAM_MEMBER_REMOVED: "removed from the team",
    Event.PROJECT_CREATED: "made the project",
    Event.PROJECT_CHANGED: "changed the settings",
    Event.MEMBER_ADDED: "added to the project",
    Event.MEMBER_CHANGED: "changed the role in the project",
    Event.MEMBER_REMOVED: "removed from the project",
    Event.INVITATION_CREATED: "made an invitation",
    Event.INVITATION_REVOKED: "revoked an invitation",
    Event.INVITATION_ACCEPTED: "accepted an invitation",
    Event.KEY_CREATED: "made the key",
    Event.KEY_REVOKED: "revoked the key",
    Event.CONNECTION_CREATED: "added the connection",
    Event.CONNECTION_CHANGED: "changed the connection",
    Event.CONNECTION_DELETED: "retired the connection",
    Event.RUN_STARTED: "started the run",
    Event.RUN_CANCELLED: "cancelled the run",
    Event.RUN_ENDED: "ended the run",
    Event.RUN_RECORDED: "recorded a run from elsewhere",
    Event.RUN_CAPTURED: "kept what the run learnt",
    Event.SOLUTION_PROPOSED: "proposed the solution",
    Event.SOLUTION_FOUND_AGAIN: "found again the solution",
    Event.SOLUTION_CHANGED: "changed the solution",
    Event.SOLUTION_ARCHIVED: "archived the solution",
    Event.SOLUTION_UNARCHIVED: "took out of the archive",
    Event.SOLUTION_DELETED: "deleted the solution",
    Event.SOLUTION_RATED: "rated the solution",
    Event.SOLUTION_MERGED: "merged away the solution",
    Event.MERGE_PROPOSED: "proposed to merge",
    Event.MERGE_DECLINED: "kept apart",
    Event.REVISION_REFINED: "refined",
    Event.REVISION_APPROVED: "approved",
    Event.REVISION_REJECTED: "rejected",
    Event.REVISION_DEPRECATED: "deprecated",
    Event.REVISION_VERIFIED: "ran the check of",
    Event.VERIFICATION_REQUESTED: "asked for the check of",
    Event.CHECK_CHANGED: "changed the check of",
    Event.EVIDENCE_REPORTED: "reported how it worked",
    Event.LINK_ADDED: "linked the solution",
    Event.LESSON_RECORDED: "recorded the lesson",
    Event.LESSON_DELETED: "deleted the lesson",
    Event.RECALLED: "recalled from memory",
    Event.RECALL_OUTCOME: "reported on what was recalled",
    Event.GAP_RECORDED: "recorded the gap",
    Event.GAP_CLOSED: "closed the gap",
    Event.GAP_DISMISSED: "dismissed the gap",
    Event.CODE_READ: "read the code of",
}
