"""Reports as a person sees them: read, sorted, searched and clicked, on a phone, in the dark and on paper."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose

import riata
from browser import chromium, opened
from riata.cli import main

COLUMNS = ["size", "age", "rooms", "floor", "noise_1", "noise_2"]


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


def run(*arguments) -> str:
    result = CliRunner().invoke(main, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A page of every kind, with what its command printed as JSON."""
    folder = tmp_path_factory.mktemp("pages")
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(rng.normal(size=(400, 6)), columns=COLUMNS)
    frame["city <b>"] = rng.choice(["Paris", "Rome", "a very long name of a place without any end"], 400)
    noise = rng.normal(size=400)
    frame["price"] = 50 + 3 * frame["size"] - 2 * frame["age"] + 2 * (frame["city <b>"] == "Rome") + noise
    frame.loc[::9, "rooms"] = np.nan
    frame["dear"] = np.where(frame["price"] > 51, "yes", "no")
    frame["kind"] = np.array(["low", "mid", "top"])[np.digitize(frame["price"], [49, 52])]
    train, test = folder / "train.csv", folder / "test.csv"
    frame[:300].to_csv(train, index=False)
    frame[300:].to_csv(test, index=False)
    printed = {}
    for name, command, target, others, options in [
        ("numbers", "fit", "price", "dear,kind", ["--alpha", "auto", "--n-alphas", 25, "--cv", 3, "--stability", 3]),
        ("classes", "fit", "dear", "price,kind", ["--alpha-ratio", 0.1]),
        ("several", "fit", "kind", "price,dear", ["--k", "auto", "--k-max", 3, "--select", "bic", "--tol", 1e-4]),
        ("path", "path", "price", "dear,kind", ["--k-max", 5, "--select", "bic"]),
    ]:
        page = folder / f"{name}.html"
        more = ["--test", test, "--out", folder / f"{name}.json"] if command == "fit" else []
        printed[name] = json.loads(
            run(command, train, "--target", target, "--drop", others, *options, *more, "--report", page, "--json")
        )
    run("evaluate", folder / "classes.json", test, "--report", folder / "evaluate.html")
    return folder, printed


PAGES = ["numbers", "classes", "several", "path", "evaluate"]


UNFIT = """width => [...document.querySelectorAll("body *")].filter(e => {
    const box = e.getBoundingClientRect();
    return (box.right > width + 1 && !e.closest(".scroll, .formula, svg")) || (e.matches("figure") && box.height < 40);
}).map(e => e.outerHTML.slice(0, 80))"""


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_and_fits_the_screen(browser, made, name):
    with opened(browser, made[0] / f"{name}.html") as page:
        for width in (360, 768, 1200):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.scrollingElement.scrollWidth") <= width
            assert page.evaluate(UNFIT, width) == []
        colours = []
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            style = page.evaluate("(style => [style.backgroundColor, style.color])(getComputedStyle(document.body))")
            colours.append(style)
        assert colours == [["rgb(255, 255, 255)", "rgb(27, 36, 48)"], ["rgb(18, 22, 28)", "rgb(228, 233, 239)"]]


def test_a_page_can_be_read_without_scripts(browser, made):
    with opened(browser, made[0] / "numbers.html", scripts=False) as page:
        text = page.inner_text("body")
        for part in ("size", "city <b>=Rome", "mean squared error", "Certified", "riata.SparseRegressor", "300 rows"):
            assert part in text
        assert page.locator("svg .line:visible").count() > 3
        assert not page.locator("input").first.is_visible()


def test_a_page_on_paper_is_light_and_whole(browser, made):
    with opened(browser, made[0] / "numbers.html", dark=True) as page:
        assert page.pdf(format="A4").startswith(b"%PDF")
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.evaluate("getComputedStyle(document.querySelector('.scroll')).maxHeight") == "none"
        assert not page.locator("nav").is_visible()


def numbers_in(page, table, column) -> list[float]:
    cells = page.locator(f"#{table} tbody tr:not([hidden]) td:nth-child({column})").all()
    return [float(cell.get_attribute("data-value")) for cell in cells]


def names_in(page, table) -> list[str]:
    return page.locator(f"#{table} tbody tr:not([hidden]) td:first-child").all_inner_texts()


@pytest.mark.parametrize("name", ["numbers", "classes", "several", "evaluate"])
def test_numbers_are_those_of_the_model_file(browser, made, name):
    folder, printed = made
    file = "classes" if name == "evaluate" else name
    document = json.loads((folder / f"{file}.json").read_text())
    stored = {feature["name"]: feature for feature in document["features"]}
    with opened(browser, folder / f"{name}.html") as page:
        names = names_in(page, "features")
        assert sorted(names) == sorted(stored)
        for i in range(len(document["intercept"])):
            expected = [stored[feature]["coef"][i] for feature in names]
            assert numbers_in(page, "features", 2 + i) == expected
            effects = numbers_in(page, "features", 2 + len(document["intercept"]) + i)
            assert_allclose(effects, [stored[f]["coef"][i] * stored[f]["deviation"] for f in names], rtol=1e-12)
        intercepts = page.locator("[data-intercept]").all()
        assert [float(b.get_attribute("data-value")) for b in intercepts] == document["intercept"]
        scores = printed[file]["test"]
        shown = {
            s.get_attribute("data-score"): s.get_attribute("data-value") for s in page.locator("[data-score]").all()
        }
        assert {key: float(value) for key, value in shown.items()} == scores


def marks(page, kind, mark) -> int:
    return page.locator(f"figure[data-kind={kind}] {mark}").count()


def test_every_chart_of_a_regression_is_drawn(browser, made):
    folder, printed = made
    model = riata.load_model(folder / "numbers.json")
    refit = fitted_again(folder)
    with opened(browser, folder / "numbers.html") as page:
        assert marks(page, "effects", ".bar") == marks(page, "effects", ".whisker") == len(model.names)
        entering = np.count_nonzero(np.any(refit.path_.coefs != 0, axis=0))
        assert marks(page, "path", ".line") == entering
        points = page.locator("figure[data-kind=path] .line").first.get_attribute("d").split("L")
        assert len(points) == len(refit.path_)
        assert marks(page, "score", ".line") == marks(page, "score", ".band") == marks(page, "score", ".chosen") == 1
        assert marks(page, "predicted", ".dot") == 100
        hints = page.locator("figure[data-kind=residuals] rect title").all_text_contents()
        assert sum(float(hint.split(": ")[1]) for hint in hints) == 100
        assert marks(page, "gap", ".dot") == len(refit.path_)
        assert marks(page, "time", ".bar") == 4
        sparks = page.locator("#columns tbody tr", has=page.locator("svg.spark")).count()
        assert sparks == len(COLUMNS) + 2  # and the city and the target
        assert printed["numbers"]["converged"]


def fitted_again(folder):
    """What the command of the first page fitted."""
    data = riata.open(folder / "train.csv", target="price", drop=["dear", "kind"])
    return riata.SparseRegressor(alpha="auto", n_alphas=25, cv=3, random_state=0).fit(data)


def test_every_chart_of_classes_is_drawn(browser, made):
    with opened(browser, made[0] / "classes.html") as page:
        for kind in ("roc", "precision-recall", "calibration", "gap", "objective", "n_selected"):
            assert marks(page, kind, ".line") == 1
        cells = page.locator("figure[data-kind=confusion] td").all_inner_texts()
        assert len(cells) == 4
        assert sum(float(cell) for cell in cells) == 100
        assert marks(page, "classes", ".bar") == 2
    with opened(browser, made[0] / "several.html") as page:
        assert marks(page, "roc", ".line") == marks(page, "precision-recall", ".line") == 3
        assert marks(page, "effects", "figcaption") == marks(page, "path", "figcaption") == 3
        assert marks(page, "confusion", "td") == 9


def test_a_table_is_sorted_and_searched(browser, made):
    with opened(browser, made[0] / "numbers.html") as page:
        head = page.locator("#features thead").get_by_role("button", name="coefficient", exact=True)
        head.click()
        assert numbers_in(page, "features", 2) == sorted(numbers_in(page, "features", 2), reverse=True)
        head.click()
        assert numbers_in(page, "features", 2) == sorted(numbers_in(page, "features", 2))
        page.locator("#features thead").get_by_role("button", name="feature", exact=True).click()
        names = names_in(page, "features")
        assert names == sorted(names, key=str.lower)
        page.locator("#features input").fill("city rom")
        assert names_in(page, "features") == ["city <b>=Rome"]
        assert page.locator("#features .found").inner_text() == f"1 of {len(names)}"
        page.locator("#features input").fill("")
        assert len(names_in(page, "features")) == len(names)


def test_a_place_on_the_path_can_be_picked(browser, made):
    folder, _ = made
    path = fitted_again(folder).path_
    with opened(browser, folder / "numbers.html") as page:
        before = names_in(page, "picked-0")
        page.locator("input[type=range]").fill("3")
        assert page.locator(".here").inner_text() == path.named(3)
        coefs = numbers_in(page, "picked-0", 2)
        assert_allclose(np.sort(coefs), np.sort(path.coefs[3][path.coefs[3] != 0]), rtol=1e-7)
        assert names_in(page, "picked-0") != before
        assert page.locator(".path .picked").count() == 2
        frame = page.locator("figure[data-kind=path] .frame")
        box = frame.bounding_box()
        frame.click(position={"x": box["width"] - 3, "y": box["height"] / 2})
        last = len(path) - 1
        assert page.locator(".here").inner_text() == path.named(last)
        assert page.locator("input[type=range]").input_value() == str(last)
        assert_allclose(
            np.sort(numbers_in(page, "picked-0", 2)), np.sort(path.coefs[-1][path.coefs[-1] != 0]), rtol=1e-7
        )


def test_charts_speak_and_zoom(browser, made):
    with opened(browser, made[0] / "numbers.html") as page:
        figure = page.locator("figure[data-kind=path]")
        figure.scroll_into_view_if_needed()
        data = json.loads(figure.locator("script").text_content())
        size = next(series for series in data["series"] if series["name"] == "size")
        box = figure.locator(".frame").bounding_box()
        page.mouse.move(box["x"] + 0.97 * box["width"], box["y"] + 5)  # near the end of the largest
        tip = page.locator("#tip")
        assert tip.inner_text().startswith("size: ")
        assert float(tip.inner_text().split()[1]) in [pytest.approx(y, rel=1e-3) for y in size["y"]]
        page.mouse.move(box["x"] + 0.2 * box["width"], box["y"] + 0.2 * box["height"])
        page.mouse.down()
        page.mouse.move(box["x"] + 0.7 * box["width"], box["y"] + 0.9 * box["height"])
        page.mouse.up()
        x, y, width, height = map(float, figure.locator("svg").get_attribute("viewBox").split())
        assert_allclose([x, y, width, height], [200, 200, 500, 700], atol=2)
        assert figure.locator(".x-ticks span").count() > 1
        figure.locator(".frame").dblclick()
        assert_allclose([float(v) for v in figure.locator("svg").get_attribute("viewBox").split()], [0, 0, 1000, 1000])


def test_zooming_ends_before_rounding(browser, made):
    with opened(browser, made[0] / "numbers.html") as page:
        figure = page.locator("figure[data-kind=path]")
        figure.scroll_into_view_if_needed()
        box = figure.locator(".frame").bounding_box()
        for _ in range(20):  # each time to a tenth: 1e-20 in the end, if nothing stopped it
            page.mouse.move(box["x"] + 0.8 * box["width"], box["y"] + 0.2 * box["height"])
            page.mouse.down()
            page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 0.3 * box["height"])
            page.mouse.up()
        _, _, width, height = map(float, figure.locator("svg").get_attribute("viewBox").split())
        assert 0 < width < 1e-5
        assert 0 < height < 1e-5
        for axis in (".x-ticks", ".y-ticks"):
            texts = figure.locator(f"{axis} span").all_inner_texts()
            assert len(texts) > 1
            assert len(set(texts)) == len(texts)


def test_a_finger_picks_a_place_on_the_path(browser, made):
    path = fitted_again(made[0]).path_
    with opened(browser, made[0] / "numbers.html", width=360, touch=True) as page:
        frame = page.locator("figure[data-kind=score] .frame")
        box = frame.bounding_box()
        frame.tap(position={"x": 4, "y": box["height"] / 2})
        assert page.locator(".here").inner_text() == path.named(0)
        assert names_in(page, "picked-0") == []
