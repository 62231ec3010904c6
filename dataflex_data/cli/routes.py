"""``dfdata routes``: which verifier judges which ``data_source``."""

from __future__ import annotations

import dataclasses

import typer

from dataflex_data.cli._options import Json


def register(app: typer.Typer) -> None:
    """Add the verb to ``app``."""
    app.command("routes")(routes)


def routes(json: Json = False) -> None:
    """List every verifier route, and what stock verl 0.9.1 would do with it."""
    from dataflex_data.reporting.terminal import print_json, print_table
    from dataflex_data.verifiers.routes import ROUTES

    found = [route for _, route in ROUTES.items()]
    if json:
        print_json([dataclasses.asdict(route) for route in found])
        return
    print_table(
        "Verifier routes (`data_source`)",
        ["data_source", "verifier", "rows", "stock verl 0.9.1"],
        [[route.name, route.kind, route.description, route.stock_verl] for route in found],
    )
