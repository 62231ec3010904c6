"""``dfdata recipes``: list, show and lock recipes; list the sources they can name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dataflex_data.cli._options import Json, parse_pairs


def register(app: typer.Typer) -> None:
    """Add the verb to ``app``."""
    verbs = typer.Typer(
        help="Recipes. `dfdata recipes` alone lists them; the commands show and lock one.",
        invoke_without_command=True,
    )
    verbs.callback()(list_recipes)
    verbs.command("show")(show)
    verbs.command("sources")(sources)
    verbs.command("lock")(lock)
    app.add_typer(verbs, name="recipes")


def list_recipes(context: typer.Context, json: Json = False) -> None:
    """List the recipes that ship with the package."""
    if context.invoked_subcommand is not None:
        return
    from dataflex_data.builders.recipe import load_recipe, recipe_names
    from dataflex_data.reporting.terminal import print_json, print_table

    recipes = [load_recipe(name) for name in recipe_names()]
    if json:
        print_json(
            [
                {
                    "name": recipe.name,
                    "description": recipe.description,
                    "rows": {name: domain.count for name, domain in recipe.domains.items()},
                    "sources": list(recipe.entries()),
                    "evaluation": list(recipe.evaluation.names) if recipe.evaluation else [],
                }
                for recipe in recipes
            ]
        )
        return
    print_table(
        "Recipes (dfdata recipes show NAME)",
        ["name", "rows", "domains", "sources"],
        [
            [
                recipe.name,
                sum(domain.count for domain in recipe.domains.values()) or "all items",
                ", ".join(recipe.domains) or "-",
                ", ".join(
                    recipe.entries() or (recipe.evaluation.names if recipe.evaluation else [])
                ),
            ]
            for recipe in recipes
        ],
    )


def show(
    name: Annotated[str, typer.Argument(help="Name of a recipe, or path of a YAML file.")],
    json: Json = False,
) -> None:
    """Print a recipe after checking it."""
    from dataflex_data.builders.recipe import load_recipe, recipe_text
    from dataflex_data.reporting.terminal import print_json

    recipe = load_recipe(name)
    if json:
        print_json(recipe.model_dump(mode="json"))
    else:
        typer.echo(recipe_text(name)[1], nl=False)


def sources(json: Json = False) -> None:
    """List the sources that a recipe can name, with their parameters."""
    from dataflex_data.builders.source import SOURCES, FileSource
    from dataflex_data.reporting.terminal import print_json, print_table

    found: list[dict[str, Any]] = []
    for name, source in SOURCES.items():
        dataset = getattr(source, "dataset", None) if issubclass(source, FileSource) else None
        fields = source.Params.model_fields
        found.append(
            {
                "name": name,
                "repository": getattr(dataset, "repo_id", None),
                "license": getattr(source, "license", None),
                "params": {
                    key: None
                    if field.is_required()
                    else str(field.get_default(call_default_factory=True))
                    for key, field in fields.items()
                },
                "description": (source.__doc__ or "").strip().splitlines()[0].replace("`", ""),
            }
        )
    if json:
        print_json(found)
        return
    print_table(
        "Sources",
        ["name", "repository", "licence", "parameters", "description"],
        [
            [
                item["name"],
                item["repository"] or "-",
                item["license"] or "yours",
                ", ".join(
                    key if default is None else f"{key}={_short(default)}"
                    for key, default in item["params"].items()
                ),
                item["description"],
            ]
            for item in found
        ],
    )


def _short(default: str, limit: int = 30) -> str:
    return default if len(default) <= limit else default[: limit - 1] + "…"


def lock(
    name: Annotated[str, typer.Argument(help="Name of a recipe, or path of a YAML file.")],
    out: Annotated[Path, typer.Option(help="YAML file to write the locked recipe to.")],
    source: Annotated[
        list[str] | None, typer.Option(help="NAME=PATH, as for `dfdata build`.")
    ] = None,
    sources_dir: Annotated[Path | None, typer.Option(help="As for `dfdata build`.")] = None,
    offline: Annotated[bool, typer.Option(help="Never ask the hub; use its cache.")] = False,
    force: Annotated[bool, typer.Option(help="Replace an existing file.")] = False,
) -> None:
    """Write a recipe with the revisions and digests of its sources as they are now.

    A build from the locked recipe refuses any other file.
    """
    from dataflex_data import pipeline

    locked = pipeline.lock_recipe(
        name,
        out,
        sources=parse_pairs("--source", source or []),
        sources_dir=sources_dir,
        offline=offline,
        force=force,
    )
    for label, entry in locked.items():
        typer.echo(f"{label}: {entry['revision']}, {len(entry['sha256'])} file(s)")
    typer.echo(f"{out}: locked recipe written")
