"""Small charts: ticks, places and gaps by hand."""

from __future__ import annotations

import re

import numpy as np
import pytest

from dataflex_data.reporting.svg import (
    Line,
    bar_chart,
    interval,
    legend,
    line_chart,
    nice_ticks,
    short,
)


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.0, 1.0, [0, 0.25, 0.5, 0.75, 1]),  # a rough step of .25 is round already
        (0.0, 3.0, [0, 1, 2, 3]),  # .75 rounds up to 1
        (-2.0, 7.0, [-2.5, 0, 2.5, 5, 7.5]),  # 2.25 to 2.5
        (990.0, 1010.0, [990, 995, 1000, 1005, 1010]),
    ],
)
def test_ticks_are_round_and_hold_the_range(low: float, high: float, ticks: list[float]) -> None:
    assert nice_ticks(low, high) == pytest.approx(ticks)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0"), (0.25, "0.25"), (-3, "−3"), (1500, "1.5k"), (2e6, "2M"), (3e9, "3G")],
)
def test_numbers_of_an_axis_are_short(value: float, shown: str) -> None:
    assert short(value) == shown


def _line(*values: float, thin: bool = False) -> Line:
    return Line("x", np.arange(len(values), dtype=float), np.array(values), 0, thin)


def test_places_of_a_line() -> None:
    # The drawing area is x 46 to 350 and y 10 to 184; the ticks of 0 to 1 end at 0 and 1.
    (points,) = re.findall(r'points="([^"]*)"', line_chart("t", [_line(0, 1, 0.5)]))
    assert points == "46.0,184.0 198.0,10.0 350.0,97.0"


def test_a_gap_parts_a_line_and_a_lone_value_is_a_dot() -> None:
    chart = line_chart("t", [_line(0, 1, float("nan"), 1)])
    assert chart.count("<polyline") == 1
    assert chart.count("<circle") == 1


def test_a_constant_line_and_one_step_have_a_scale() -> None:
    assert "<polyline" in line_chart("t", [_line(2, 2, 2)])
    assert "<circle" in line_chart("t", [_line(0)])
    assert "nan" not in line_chart("t", [_line(0)])


def test_nothing_to_draw_is_no_chart() -> None:
    assert line_chart("t", []) == ""
    assert line_chart("t", [_line(float("nan"))]) == ""
    assert bar_chart("t", []) == ""


def test_long_lines_are_thinned_by_means() -> None:
    # 480 points in 240 stretches of two: the means of 0,1 2,3 ... are .5, 2.5, ...; x likewise.
    chart = line_chart("t", [_line(*map(float, range(480)))])
    (points,) = re.findall(r'points="([^"]*)"', chart)
    assert len(points.split()) == 240


def test_bars_are_as_high_as_their_values() -> None:
    chart = bar_chart("t", [("a", 2.0), ("b", 4.0)])
    heights = [float(h) for h in re.findall(r'class="bar c0".*?height="([\d.]+)"', chart)]
    assert heights == [87.0, 174.0]  # half of, and all of, the area's 174


def test_interval_is_cut_at_the_ends_and_told_in_words() -> None:
    drawn = interval(0.0, (-100.0, 5.0), 10.0, 1.0, "+0.00 <told>")
    # 200 wide with 4 to spare: -10 is 4, 0 is 100, 5 is 148, the band of 1 is 90.4 to 109.6.
    assert 'x1="4.0" x2="148.0"' in drawn
    assert 'x="90.4" y="0" width="19.2"' in drawn
    assert 'aria-label="+0.00 &lt;told&gt;"' in drawn
    assert "span" not in interval(0.0, None, 10.0, 1.0, "")


def test_titles_and_names_are_escaped() -> None:
    for text in (
        line_chart("<b>", [Line("<i>", np.array([0.0, 1.0]), np.array([0.0, 1.0]), 0)]),
        bar_chart("<b>", [("<i>", 1.0)]),
        legend(["<b>"]),
    ):
        assert "<b>" not in text
        assert "<i>" not in text


def test_ninth_run_has_dashes() -> None:
    assert "stroke-dasharray" not in legend(list("abcdefgh"))
    assert legend(list("abcdefghi")).count("stroke-dasharray") == 1
