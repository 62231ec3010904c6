"""A report as blocks: one text, laid out once and written as Markdown and as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from html import escape

from dataflex_data.reporting.html import Section, html_table, render_page
from dataflex_data.reporting.plots import png_data_uri


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; ``kind`` ``"banner"`` and ``"note"`` are set apart."""

    text: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of plain cells; a `Decimal` is a number shown with the decimals it has."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture; Markdown links to ``file``, HTML holds the bytes.

    Attributes:
        file: Name in the output folder; ``""`` for one that stands in HTML only.
    """

    file: str
    alt: str
    png: bytes


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading below a part's."""

    text: str


Block = Paragraph | Table | Picture | Heading


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the report."""

    title: str
    blocks: Sequence[Block]


def html_document(title: str, parts: Sequence[Part], *, subtitle: str = "") -> str:
    """Return the parts as one self-contained page."""
    sections = [Section(part.title, "\n".join(map(_block_html, part.blocks))) for part in parts]
    return render_page(title, sections, subtitle=subtitle)


def markdown_document(title: str, parts: Sequence[Part], *, subtitle: str = "") -> str:
    """Return the parts as Markdown; pictures are links to their files.

    Texts are plain: what would be HTML in them is escaped, for viewers that let HTML through.
    """
    lines = [f"# {_plain(title)}", "", _plain(subtitle), ""]
    for part in parts:
        lines += [f"## {_plain(part.title)}", ""]
        for block in part.blocks:
            lines += _block_markdown(block)
    return "\n".join(lines).rstrip() + "\n"


def _block_html(block: Block) -> str:
    if isinstance(block, Table):
        return html_table(block.columns, block.rows)
    if isinstance(block, Heading):
        return f"<h3>{escape(block.text)}</h3>"
    if isinstance(block, Picture):
        source = png_data_uri(block.png)
        return f'<figure><img src="{source}" alt="{escape(block.alt)}" loading="lazy"></figure>'
    kind = f' class="{block.kind}"' if block.kind else ""
    return f"<p{kind}>{escape(block.text)}</p>"


def _block_markdown(block: Block) -> list[str]:
    if isinstance(block, Heading):
        return [f"### {_plain(block.text)}", ""]
    if isinstance(block, Picture):
        return [f"![{_plain(block.alt)}]({block.file})", ""] if block.file else []
    if isinstance(block, Paragraph):
        text = _plain(block.text)
        return [f"**{text}**" if block.kind == "banner" else text, ""]
    cells = [[_markdown_cell(cell) for cell in row] for row in block.rows]
    return [
        "| " + " | ".join(map(_markdown_cell, block.columns)) + " |",
        "|" + "---|" * len(block.columns),
        *("| " + " | ".join(row) + " |" for row in cells),
        "",
    ]


def _markdown_cell(cell: object) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, float):
        return f"{cell:.4f}".replace("-", "−")
    if isinstance(cell, int | Decimal) and not isinstance(cell, bool):
        return f"{cell:,}".replace("-", "−")
    return _plain(str(cell)).replace("|", "\\|")


def _plain(text: str) -> str:
    return escape(text, quote=False).replace("\n", " ")
