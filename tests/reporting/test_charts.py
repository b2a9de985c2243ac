"""Charts and tables say what their data says, before any browser sees them."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from riata.reporting.html.charts import Bar, Series, bar_chart, histogram, xy_chart
from riata.reporting.html.numbers import duration, short
from riata.reporting.html.page import Section, Tile, page
from riata.reporting.html.rendering import embedded
from riata.reporting.html.scales import Axis, Scale, scale_of
from riata.reporting.html.tables import Column, data_table

NASTY = "</script><b>'\"&amp;"


@given(
    st.floats(-1e9, 1e9), st.floats(1e-3, 1e9), st.booleans()
)  # fmt: skip
def test_ticks_are_few_round_and_inside(low, width, falling):
    scale = Scale(low + width, low) if falling else Scale(low, low + width)
    ticks = scale.ticks()
    assert len(ticks) <= 8
    places = scale.at(ticks)
    assert np.all((places >= -1e-6) & (places <= 1 + 1e-6))


@given(st.floats(-12, 12), st.floats(0.01, 20))
def test_ticks_of_a_log_scale(exponent, decades):
    scale = Scale(10.0**exponent, 10.0 ** (exponent + decades), log=True)
    places = scale.at(scale.ticks())
    assert len(places) <= 12
    assert np.all((places >= -1e-6) & (places <= 1 + 1e-6))


def test_a_scale_holds_its_values_and_leaves_out_what_has_no_logarithm():
    scale = scale_of(Axis("gap", log=True, falling=True), [1.0, 0.0, 1e-4, np.nan])
    first, last = scale.at([1.0, 1e-4])
    assert 0 < first < last < 1
    assert_allclose(scale_of(Axis("share", low=0.0, high=1.0), [0.2]).at(0.2), 0.2)


@given(st.floats(1e-300, 1e12), st.integers(1, 50), st.booleans(), st.booleans())
def test_no_axis_zooms_into_rounding(value, steps, negative, log):
    value = -value if negative and not log else value
    values = value * (1.0 + np.finfo(float).eps * np.arange(steps + 1))
    scale = scale_of(Axis("objective", log=log), values)
    places = scale.at(values)
    assert np.ptp(places) < 1e-9
    assert np.all((places > 0.2) & (places < 0.8))
    assert scale.labelled()


@pytest.mark.parametrize("change", [1e-3, 1e-6, 3e-9])
def test_what_is_more_than_rounding_is_shown_with_numbers_that_differ(change):
    scale = scale_of(Axis("objective"), [1573.25, 1573.25 * (1 + change)])
    assert np.ptp(scale.at([1573.25, 1573.25 * (1 + change)])) > 0.9
    texts = [text for _, text in scale.labelled()]
    assert len(texts) >= 2
    assert len(set(texts)) == len(texts)
    assert_allclose([float(text.replace(",", "")) for text in texts], scale.ticks(), rtol=1e-12)


def test_marks_are_as_many_as_the_data():
    x = np.arange(5.0)
    chart = xy_chart(
        NASTY,
        [
            Series("a", x, x, spread=x / 10),
            Series("b", x, -x, line=False, dots=True),
            Series(NASTY, x, 2 * x, background=True),
        ],
        Axis("x"),
        Axis("y"),
        chosen=2.0,
        diagonal=True,
    )
    assert chart.count('class="line"') == 2
    assert chart.count('class="dot"') == 5
    assert chart.count('class="band"') == chart.count('class="chosen"') == chart.count('class="diagonal"') == 1
    assert "<b>" not in chart
    line = re.search(r'class="series" data-name="a".*?class="line" d="M([^"]*)"', chart)[1]
    assert len(line.split("L")) == 5


def test_a_band_goes_down_to_a_bound():
    chart = xy_chart("F", [Series("a", [1, 2], [3.0, 2.0], down_to=[1.0, 0.0])], Axis("x"), Axis("y"))
    ends = [part.split() for part in re.search(r'class="band"[^>]* d="M([^"Z]*)Z', chart)[1].split("L")]
    heights = [float(height) for _, height in ends]  # of 3, 2, then back from 0 to 1
    assert_allclose(np.diff(heights), (heights[1] - heights[0]) * np.array([1, 2, -1]), atol=0.2)


def test_a_gap_in_the_data_is_not_drawn():
    chart = xy_chart("gap", [Series("a", [1, 2, 3], [1.0, np.nan, 2.0], line=False, dots=True)], Axis("x"), Axis("y"))
    assert chart.count('class="dot"') == 2
    assert '"y":[1.0,null,2.0]' in chart


def test_bars_start_at_zero():
    chart = bar_chart("effects", [Bar("up", 3.0, "3", spread=1.0), Bar("down", -1.0, "-1")])
    lefts = [float(v) for v in re.findall(r'class="bar \w+" style="left:([\d.]+)%', chart)]
    widths = [float(v) for v in re.findall(r'class="bar \w+" style="left:[\d.]+%;width:([\d.]+)%', chart)]
    assert_allclose(lefts, [20.0, 0.0])
    assert_allclose(widths, [60.0, 20.0])
    assert chart.count("whisker") == 1


def test_a_histogram_has_a_bar_for_every_bin():
    chart = histogram("residuals", [0.0, 1.0, 2.0, 4.0], [1, 5, 2], "minutes")
    heights = [float(v) for v in re.findall(r'<rect [^>]* height="([\d.]+)"', chart)]
    assert_allclose(heights, [200.0, 1000.0, 200.0])


def test_a_table_carries_whole_numbers_and_shows_short_ones():
    table = data_table("t", [Column("name"), Column("value", number=True)], [[NASTY, 1 / 3], ["none", None]])
    assert f'data-value="{1 / 3!r}">0.3333<' in table
    assert "<b>" not in table


def test_a_page_is_closed_to_the_network_and_escapes_what_it_shows():
    html = page(NASTY, NASTY, [Section("one", NASTY, embedded({NASTY: 1}))], tiles=[Tile("rows", NASTY)])
    assert "default-src &#39;none&#39;" in html or "default-src 'none'" in html
    assert "<b>" not in html
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", html)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1 / 3, "0.3333"),
        (-12345.6, "−12,346"),
        (1e-7, "1e-7"),
        (np.nan, "–"),
        (None, "–"),
        (2e6, "2,000,000"),
    ],
)
def test_short_numbers(value, text):
    assert short(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.012, "12 ms"), (3.44, "3.4 s"), (42.3, "42 s"), (125.0, "2 min 5 s"), (36000, "10.0 h")]
)
def test_durations(seconds, text):
    assert duration(seconds) == text
