"""One generic registry: a name maps to one component, duplicates are refused, typos are answered.

A sub-package fills its registry by listing its own folder, so that adding a component is adding a
file. Third parties add theirs through an entry point group of the same name.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from typing import Generic, TypeVar

from dataflex_data.core.errors import DataflexError, UnknownNameError, did_you_mean

T = TypeVar("T")


class Registry(Generic[T]):
    """Components of one kind by name.

    Args:
        kind: What it holds, in the singular, for messages: ``"source"``.
        package: Import path of the folder whose modules register themselves, or ``None``.
        entry_point_group: Group through which other distributions register theirs, or ``None``.
            Loading happens at the first lookup; an entry point that fails to load is an error
            that names it.
    """

    def __init__(
        self, kind: str, package: str | None = None, entry_point_group: str | None = None
    ) -> None:
        self.kind = kind
        self._package = package
        self._group = entry_point_group
        self._items: dict[str, T] = {}
        self._loaded = False

    def register(self, name: str) -> Callable[[T], T]:
        """Return a decorator that registers what it decorates under ``name``.

        Raises:
            DataflexError: ``name`` is taken by something else, or is not a plain word.
        """
        if not name or name != name.strip():
            raise DataflexError(f"a {self.kind} needs a plain name, got {name!r}")

        def add(item: T) -> T:
            held = self._items.get(name)
            if held is not None and held is not item:
                raise DataflexError(
                    f"the {self.kind} {name!r} is registered already ({held!r}); "
                    "choose another name"
                )
            self._items[name] = item
            return item

        return add

    def get(self, name: str) -> T:
        """Return the component registered as ``name``.

        Raises:
            UnknownNameError: No such name; the message lists near matches and all known names.
        """
        self._load()
        try:
            return self._items[name]
        except KeyError:
            raise UnknownNameError(
                f"{self.kind} {name!r} is not known{did_you_mean(name, self._items)} "
                f"(known: {', '.join(self.names())})"
            ) from None

    def names(self) -> list[str]:
        """Return all registered names, sorted."""
        self._load()
        return sorted(self._items)

    def items(self) -> Iterator[tuple[str, T]]:
        """Yield ``(name, component)`` sorted by name."""
        for name in self.names():
            yield name, self._items[name]

    def __contains__(self, name: object) -> bool:
        self._load()
        return name in self._items

    def _load(self) -> None:
        if self._loaded:
            return
        self._loaded = True  # set first: the modules loaded below may look names up
        if self._package is not None:
            folder = importlib.import_module(self._package)
            for module in pkgutil.iter_modules(folder.__path__):
                importlib.import_module(f"{self._package}.{module.name}")
        if self._group is not None:
            for entry_point in entry_points(group=self._group):
                try:
                    entry_point.load()
                except Exception as error:  # noqa: PERF203 - each failure names its plugin
                    raise DataflexError(
                        f"the {self.kind} plugin {entry_point.name!r} ({entry_point.value}) "
                        f"failed to load: {error}"
                    ) from error
