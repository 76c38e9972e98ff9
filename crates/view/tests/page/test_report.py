"""The report on several solvers in a browser: every run is visible, all move on one timeline and from one
camera, figures can be saved, no requests are made."""

import pytest
from conftest import example

SOLVERS = ["canal", "pgs", "sap"]

# Brightness of each picture on a coarse raster.
PICTURES = """
  const views = window.stiction;
  views.resize();
  views.renderers.forEach((renderer, k) => { renderer.draw(views.camera); views.show(k); });
  return views.canvases.map((canvas) => {
    const w = 24, h = 18, small = document.createElement('canvas');
    Object.assign(small, { width: w, height: h });
    const pen = small.getContext('2d');
    pen.drawImage(canvas, 0, 0, w, h);
    const p = pen.getImageData(0, 0, w, h).data, raster = [];
    for (let i = 0; i < p.length; i += 4) raster.push((p[i] + p[i + 1] + p[i + 2]) / 3);
    return raster;
  });
"""


def difference(a: list[float], b: list[float]) -> float:
    """Largest change of brightness, of 255."""
    return max(abs(x - y) for x, y in zip(a, b, strict=True))


@pytest.fixture(scope="module")
def report(pages):
    page = pages / "report.html"
    example("report", "clutter", str(page), ",".join(SOLVERS), "60", "bodies=8")
    return page


def test_every_run_is_visible_and_all_move_on_one_timeline(browser, report):
    assert browser.open(report) == "ready"
    browser.run("window.stiction.reset(); window.stiction.player.seek(0)")
    first = browser.run(PICTURES)
    assert len(first) == len(SOLVERS)
    # The same start, seen from the same camera.
    assert all(difference(first[0], other) < 2 for other in first[1:])
    assert max(first[0]) - min(first[0]) > 20
    browser.run(
        """const slider = document.getElementById('scrub');
        slider.value = slider.max; slider.dispatchEvent(new Event('input'))"""
    )
    last = browser.run(PICTURES)
    assert all(difference(a, b) > 10 for a, b in zip(first, last, strict=True))
    assert browser.run("return window.stiction.player.time === window.stiction.longest.end")
    assert browser.errors() == []


def test_the_charts_over_time_share_the_cursor_of_the_motion(browser, report):
    browser.open(report)
    places = """window.stiction.player.seek(arguments[0] * window.stiction.longest.end);
        return [...document.querySelectorAll('figure.timed line.cursor')].map((line) => {
          const frame = line.parentNode.querySelector('rect.sp-frame');
          return Number(line.getAttribute('x1')) / Number(frame.getAttribute('width'));
        })"""
    for share in [0.0, 0.25, 1.0]:
        found = browser.run(places, share)
        # Two panels in each of the three figures; the axes begin and end with the run.
        assert len(found) == 6 and all(abs(x - share) < 0.02 for x in found)
    # A press in a chart moves the clock, and with it the motion.
    time = browser.run(
        """const field = document.querySelector('figure.timed rect.field');
        field.scrollIntoView({ block: 'center' });
        const box = field.getBoundingClientRect();
        field.setPointerCapture = () => {};
        const at = { clientX: box.left + box.width / 2, clientY: box.top + 5, pointerId: 1, bubbles: true };
        field.dispatchEvent(new PointerEvent('pointerdown', at));
        return window.stiction.player.time / window.stiction.longest.end"""
    )
    assert abs(time - 0.5) < 0.02
    assert browser.errors() == []


def test_one_camera_turns_all_pictures(browser, report):
    browser.open(report)
    before = browser.run(PICTURES)
    browser.run("window.stiction.camera.orbit(200, 40)")
    after = browser.run(PICTURES)
    assert all(difference(a, b) > 5 for a, b in zip(before, after, strict=True))


def test_forces_appear_in_every_picture(browser, report):
    browser.open(report)
    count = "return window.stiction.renderers.map((renderer) => renderer.arrows.n)"
    assert browser.run(count) == [0] * len(SOLVERS)
    browser.run("document.getElementById('forces').click()")
    assert min(browser.run(count)) > 0


def test_the_report_names_its_solvers_and_keeps_its_figures(browser, report):
    browser.open(report)
    heads = browser.run("return [...document.querySelectorAll('#summary thead th[scope=col]')].map((th) => th.firstChild.textContent)")
    assert heads == SOLVERS
    figures = browser.run(
        """return [...document.querySelectorAll('figure svg')].map((svg) => {
          const text = new XMLSerializer().serializeToString(svg);
          const parsed = new DOMParser().parseFromString(text, 'image/svg+xml');
          return [parsed.documentElement.nodeName, parsed.querySelectorAll('path, rect').length];
        })"""
    )
    assert len(figures) >= 5
    assert all(name == "svg" and parts > 5 for name, parts in figures)
    # Nothing is wider than the page.
    assert browser.run("return document.documentElement.scrollWidth <= window.innerWidth")


def test_nothing_leaves_the_machine(browser, report):
    browser.open(report)
    browser.run("document.getElementById('play').click()")
    browser.run(PICTURES)
    assert browser.requests() == []
    assert browser.errors() == []
