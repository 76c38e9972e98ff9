"""The page in a browser: bodies are visible and move, arrows appear, plots follow, no requests are made."""

from conftest import Browser


def difference(a: dict, b: dict) -> float:
    """Largest change of brightness on the raster, of 255."""
    return max(abs(x - y) for x, y in zip(a["raster"], b["raster"], strict=True))


def press(browser: Browser, key: str) -> None:
    browser.run("window.dispatchEvent(new KeyboardEvent('keydown', { key: arguments[0] }))", key)


def seek(browser: Browser, part: float) -> None:
    browser.seek(part)


def test_bodies_are_visible_and_the_timeline_moves_them(browser, pages):
    assert browser.open(pages / "clutter.html") == "ready"
    seek(browser, 0)
    first = browser.picture()
    assert first["drawn"] > 0.01 * first["size"]
    browser.run(
        """const slider = document.getElementById('scrub');
        slider.value = slider.max; slider.dispatchEvent(new Event('input'))"""
    )
    assert browser.run("return window.stiction.player.frame") == browser.run(
        "return window.stiction.recording.count - 1"
    )
    assert difference(first, browser.picture()) > 10
    assert browser.errors() == []


def test_poses_lie_between_those_of_the_frames_around(browser, pages):
    browser.open(pages / "clutter.html")
    off = browser.run(
        """const r = window.stiction.recording, poses = [0, 1, 2].map(() => new Float32Array(7 * r.bodies.length));
        const k = 20, middle = 0.5 * (r.time[k] + r.time[k + 1]);
        [r.time[k], middle, r.time[k + 1]].forEach((t, i) => r.poses(t, poses[i]));
        let off = 0;
        for (const b of r.moving) {
          for (let i = 0; i < 3; i++) off = Math.max(off, Math.abs(poses[1][7 * b + i] - 0.5 * (poses[0][7 * b + i] + poses[2][7 * b + i])));
          off = Math.max(off, Math.abs(Math.hypot(...poses[1].subarray(7 * b + 3, 7 * b + 7)) - 1));
        }
        return off;"""
    )
    # Single precision at metres.
    assert off < 1e-5


def test_playing_moves_time_and_pausing_stops_it(browser, pages):
    browser.open(pages / "clutter.html")
    seek(browser, 0)
    # Pictures may take long here and playing loops, so times are counted as they pass.
    browser.run("window.seen = new Set(); const p = window.stiction.player; p.onChange(() => window.seen.add(p.time))")
    browser.driver.find_element("id", "play").click()
    browser.driver.set_script_timeout(120)
    wait = browser.driver.execute_async_script
    wait("const done = arguments[0], look = () => (window.seen.size > 3 ? done() : requestAnimationFrame(look)); look()")
    press(browser, " ")
    still = browser.run("return window.stiction.player.time")
    two_pictures = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done))"
    wait(two_pictures)
    assert browser.run("return window.stiction.player.time") == still


def test_a_loop_goes_on_from_the_start_with_the_time_that_is_left(browser, pages):
    browser.open(pages / "clutter.html")
    off = browser.run(
        """const { player, recording } = window.stiction, span = recording.end - recording.begin;
        player.loop = true; player.playing = true; player.time = recording.end - 0.02; player.advance(0.05);
        const looped = player.time - recording.begin;
        player.loop = false; player.time = recording.end - 0.02; player.advance(0.05);
        return [looped, player.time - recording.end, player.playing, span];"""
    )
    looped, past_end, playing, span = off
    # Times are multiples of a part of the time step; the loop adds 0.05 s and takes the span away.
    assert abs(looped - 0.03) < 1e-9 and past_end == 0 and not playing and span > 1


def test_single_steps_go_one_frame(browser, pages):
    browser.open(pages / "clutter.html")
    seek(browser, 0)
    browser.driver.find_element("id", "forward").click()
    assert browser.run("return window.stiction.player.frame") == 1
    press(browser, "ArrowRight")
    press(browser, "ArrowLeft")
    browser.driver.find_element("id", "back").click()
    assert browser.run("return window.stiction.player.frame") == 0
    press(browser, "End")
    assert browser.text("frame").startswith("frame 73 of 73")


def test_arrows_and_points_appear_and_can_be_scaled(browser, pages):
    browser.open(pages / "clutter.html")
    seek(browser, 1)
    before = browser.picture()
    browser.driver.find_element("id", "forces").click()
    arrows = browser.picture()
    assert arrows["blue"] > before["blue"] + 100
    assert browser.run("return window.stiction.renderer.arrows.n") > 10
    browser.run(
        """const s = document.getElementById('forceScale'); s.value = 0.5; s.dispatchEvent(new Event('input'))"""
    )
    assert browser.picture()["blue"] > arrows["blue"]
    press(browser, "c")
    assert browser.run("return window.stiction.renderer.points.n") > 10
    press(browser, "a")
    axes = browser.run("return window.stiction.renderer.arrows.n")
    assert axes >= 3 * browser.run("return window.stiction.recording.moving.length")


def test_plots_follow_the_cursor_and_a_click_in_them_moves_it(browser, pages):
    browser.open(pages / "clutter.html")
    picture = """const c = document.querySelector('[data-plot=energy] canvas');
        const p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        let x = 0, n = 0;
        // The cursor's colour, in the upper rows where no curve is.
        for (let i = 0; i < p.length; i += 4) if (p[i] < 60 && p[i + 2] > 190 && p[i + 1] < 140) { x += (i / 4) % c.width; n++; }
        return n ? x / n / c.width : -1;"""
    seek(browser, 0.25)
    early = browser.run(picture)
    seek(browser, 0.75)
    late = browser.run(picture)
    assert 0 < early < late
    reading = "return document.querySelector('[data-plot=energy] .legend b').textContent"
    at_late = browser.run(reading)
    plot = browser.driver.find_element("css selector", "[data-plot=energy] canvas")
    from selenium.webdriver import ActionChains

    ActionChains(browser.driver).move_to_element_with_offset(plot, 0, 0).click().perform()
    part = browser.run("const s = window.stiction; return s.player.time / s.recording.end")
    # The middle of the plot is right of the middle of its axis by half the difference of the margins.
    assert 0.3 < part < 0.5
    assert browser.run(reading) != at_late


def test_energy_in_the_page_is_that_of_its_parts(browser, pages):
    browser.open(pages / "clutter.html")
    values = browser.run("const f = window.stiction.recording.figures; return [f.kinetic[0], f.potential[0]]")
    assert abs(values[0]) < 1e-4 * abs(values[1])  # at rest above the floor


def test_picking_names_a_body_and_shows_its_state(browser, pages):
    browser.open(pages / "shapes.html")
    seek(browser, 1)
    found = browser.run(
        """const s = window.stiction, c = s.canvas, seen = new Set();
        s.renderer.draw(s.camera);
        for (let y = 0.05; y < 1; y += 0.04) for (let x = 0.05; x < 1; x += 0.04) {
          const body = s.renderer.under(s.camera, x * c.clientWidth, y * c.clientHeight);
          if (body >= 0) seen.add(s.inspector.names[body]);
        }
        return [...seen];"""
    )
    for name in ("box 0", "sheet", "world"):
        assert name in found, found
    browser.run("window.stiction.pick(1)")
    assert browser.text("picked") == "box 0"
    facts = browser.text("facts")
    for word in ("position", "velocity", "contact force"):
        assert word in facts
    # One kilogram at rest.
    size = browser.run(
        "const d = [...document.querySelectorAll('#facts dd')].at(-1).textContent; return parseFloat(d)"
    )
    assert 5 < size < 15
    picked = browser.picture()
    press(browser, "Escape")
    assert difference(picked, browser.picture()) > 1
    assert browser.run("return window.stiction.inspector.body") == -1


def test_following_keeps_a_body_in_its_place(browser, pages):
    browser.open(pages / "quiet.html")
    browser.run("window.stiction.pick(1); window.stiction.follow()")
    seek(browser, 1)
    target = browser.run("return window.stiction.camera.target[2]")
    height = browser.run("return window.stiction.poses[7 + 2]")
    assert abs(target - height) < 1e-3 and height < -0.1


def test_visual_and_collision_shapes_can_be_switched(browser, pages):
    browser.open(pages / "shapes.html")
    count = "return window.stiction.renderer.batches.reduce((n, b) => n + b.n, 0)"
    counts = []
    for _ in range(3):
        counts.append(browser.run(count))
        press(browser, "v")
    seen, touch, every = counts
    assert every == touch + 1 and seen == touch  # one visual hull hides one collision box


def test_names_stay_text(browser, pages):
    assert browser.open(pages / "names.html") == "ready"
    assert browser.run("return document.body.dataset.hacked") is None
    assert "<script>" in browser.text("title")
    browser.run("window.stiction.pick(1)")
    assert browser.text("picked").startswith("</title>")
    assert browser.run("return document.querySelectorAll('img').length") == 0
    assert browser.errors() == []


def test_a_recording_of_nothing_says_so(browser, pages):
    assert browser.open(pages / "empty.html") == "ready"
    assert "no frame" in browser.text("message")
    assert browser.errors() == []


def test_without_contacts_everything_works(browser, pages):
    browser.open(pages / "quiet.html")
    for key in "cfagxvzrt":
        press(browser, key)
    seek(browser, 0.5)
    assert browser.picture()["drawn"] > 0
    assert browser.errors() == []


def test_thousands_of_bodies_are_drawn_together(browser, pages):
    browser.open(pages / "many.html")
    assert browser.run("return window.stiction.renderer.batches.length") == 1
    picture = browser.picture()
    assert picture["drawn"] > 0.01 * picture["size"]


def test_no_request_leaves(browser, pages):
    browser.open(pages / "clutter.html")
    seek(browser, 0.5)
    press(browser, "f")
    browser.driver.execute_async_script("setTimeout(arguments[0], 500)")
    assert browser.requests() == []
    # Not even if something in the page tried.
    blocked = browser.driver.execute_async_script(
        "const done = arguments[0]; fetch('https://example.org/').then(() => done(false), () => done(true))"
    )
    assert blocked


def test_a_picture_can_be_saved(browser, pages):
    browser.open(pages / "clutter.html")
    browser.run(
        """window.saved = null;
        HTMLAnchorElement.prototype.click = function () { window.saved = [this.download, this.href]; };
        document.getElementById('save').click()"""
    )
    browser.driver.execute_async_script("setTimeout(arguments[0], 700)")
    name, address = browser.run("return window.saved")
    assert name.startswith("clutter-") and name.endswith(".png") and address.startswith("blob:")


def test_damaged_pages_say_what_is_wrong(browser, pages, tmp_path):
    text = (pages / "clutter.html").read_text()
    start = text.index('data-length="')
    cut = tmp_path / "cut.html"
    cut.write_text(text[: start + 4000])
    assert browser.open(cut) == "broken"
    assert "cut off" in browser.text("message")
    # A changed letter in the middle: the checksum of the stream finds it, if nothing else does.
    place = text.index(">", start) + 20000
    other = "A" if text[place] != "A" else "B"
    bent = tmp_path / "bent.html"
    bent.write_text(text[:place] + other + text[place + 1 :])
    assert browser.open(bent) == "broken"
    assert "damaged" in browser.text("message")


def test_without_webgl_the_plots_work_and_a_message_says_why(pages, tmp_path):
    plain = Browser(tmp_path, ("--disable-3d-apis",))
    try:
        assert plain.open(pages / "clutter.html") == "ready"
        assert "WebGL2" in plain.text("message")
        seek(plain, 0.5)
        assert plain.run("return document.querySelectorAll('#plots canvas').length") == 5
        plain.run("window.stiction.pick(1)")
        assert "position" in plain.text("facts")
    finally:
        plain.close()


def test_a_narrow_window_shows_picture_plots_and_controls(pages, tmp_path):
    narrow = Browser(tmp_path, size=(500, 900))
    try:
        narrow.open(pages / "clutter.html")
        boxes = narrow.run(
            """return ['view', 'plots', 'play', 'scrub'].map((id) => {
              const b = document.getElementById(id).getBoundingClientRect();
              return [b.left, b.right, b.width, innerWidth];
            })"""
        )
        for left, right, width, window in boxes:
            assert left >= 0 and right <= window + 1 and width > 20
    finally:
        narrow.close()


def test_everything_that_can_be_pressed_has_a_name(browser, pages):
    browser.open(pages / "clutter.html")
    nameless = browser.run(
        """return [...document.querySelectorAll('button, input, select, canvas')].filter((e) =>
          !(e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label'))).map((e) => e.outerHTML)"""
    )
    assert nameless == []


def test_steps_that_are_not_ok_are_named_beside_the_frame(browser, pages):
    browser.open(pages / "clutter.html")
    # Frame 5 has open equalities and softened constraints, its neighbours have no faults.
    browser.run(
        """const { flags } = window.stiction.recording.figures;
        flags.fill(0);
        flags[5] = 1 + 8"""
    )
    shown = []
    for frame in (4, 5, 6):
        browser.run("window.stiction.player.seekFrame(arguments[0])", frame)
        hidden = browser.run("return document.getElementById('status').hidden")
        shown.append("" if hidden else browser.text("status"))
    assert shown == ["", "correction not done, softened", ""]
    assert browser.errors() == []


def test_contact_patches_are_drawn_with_a_legend_of_their_pressure(browser, pages):
    assert browser.open(pages / "pads.html") == "ready"
    seek(browser, 1)
    with_patches = browser.picture()
    hidden = "return document.getElementById(arguments[0]).hidden"
    assert not browser.run(hidden, "patchesLabel") and not browser.run(hidden, "pressureLegend")
    # The block of 2 kg on 0.02 m² has 981 Pa under it; the largest pressure of the run is that of the ball or of an impact.
    largest = browser.run("return window.stiction.recording.patches.largest")
    assert largest > 900
    assert browser.text("pressureText").endswith(" Pa")
    load = browser.run(
        """const { recording } = window.stiction, { patches } = recording, frame = recording.count - 1;
        const block = recording.bodies.indexOf('block');
        let load = 0;
        for (let k = patches.first[frame]; k < patches.first[frame + 1]; k++) {
          if (patches.bodies[2 * k + 1] !== block) continue;
          const from = patches.firstCorner[k], to = patches.firstCorner[k + 1];
          const at = (c) => patches.corner.subarray(3 * c, 3 * c + 3);
          for (let c = from + 1; c + 1 < to; c++) {
            const [a, b, d] = [at(from), at(c), at(c + 1)];
            const area = 0.5 * Math.abs((b[0] - a[0]) * (d[1] - a[1]) - (b[1] - a[1]) * (d[0] - a[0]));
            load += area * patches.pressure[k];
          }
        }
        return load;"""
    )
    # The weight of the block, which has no friction. Corners are rounded to 1e-5 m of 1e-2 m, pressures to 2^-12.
    assert abs(load - 2 * 9.80665) < 2e-3 * 2 * 9.80665
    press(browser, "h")
    assert browser.run(hidden, "pressureLegend")
    assert difference(with_patches, browser.picture()) > 2
    press(browser, "h")
    assert difference(with_patches, browser.picture()) == 0
    assert browser.errors() == []


def test_recordings_without_patches_have_no_legend_of_pressure(browser, pages):
    browser.open(pages / "clutter.html")
    for element in ("patchesLabel", "pressureLegend"):
        assert browser.run("return document.getElementById(arguments[0]).hidden", element)
    assert browser.errors() == []
