"""Where a dataset's files lie: the hub, its cache, or files that the user gives."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HubDataset:
    """A dataset on the hub.

    Attributes:
        repo_id: Such as ``"openai/gsm8k"``.
        files: Glob patterns, relative to the repository, of the files wanted; the first pattern
            that matches anything in the repository or folder is taken, all its matches in order.
        revision: Commit to read; ``None`` means: resolve the default branch now and record it.
        folder_names: Further names under which a user's ``--sources-dir`` may hold it.
    """

    repo_id: str
    files: tuple[str, ...]
    revision: str | None = None
    folder_names: tuple[str, ...] = ()
