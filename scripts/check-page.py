#!/usr/bin/env python3
"""Opens a page of `tiered report html` in headless Chromium and checks that it works.

It checks that the page renders; that filters, search, links to pairs, keys, saved figures and the theme work; that nothing is
loaded from the network; that the console has no messages; that axe-core finds no problem; that texts have enough contrast; and
that nothing is wider than a phone. --screenshots saves pictures into a folder.

usage: check-page.py PAGE [--screenshots FOLDER]
Exit code 0: all checks passed; 1: one failed; 3: skipped, since there is no browser (scripts/get-readers.sh installs one).
"""
import argparse
import pathlib
import re

from app_browser import PHONE, VIEWS, check_axe, check_width, expect, run

READABLE = 4.5  # contrast of WCAG 2.2, level AA
INKS, GROUNDS = ["ink", "soft", "strong", "right", "wrong", "missed"], ["ground", "sheet"]
ELSEWHERE = re.compile(r"""(?:src|href|srcset|action|poster)\s*=\s*["']?\s*(?:https?:)?//|url\(|@import""", re.I)


def luminance(rgb):
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in rgb)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    high, low = sorted([luminance(a), luminance(b)], reverse=True)
    return (high + 0.05) / (low + 0.05)


def colour(page, name):
    """A colour of the style as it comes out."""
    text = page.evaluate("""name => { const e = document.createElement('i'); e.style.color = `var(--${name})`;
        document.body.append(e); const c = getComputedStyle(e).color; e.remove(); return c; }""", name)
    return [float(v) for v in re.findall(r"[\d.]+", text)[:3]]


def visible(page):
    return page.locator(".pair:visible").count()


def check_colours(page):
    for ink in INKS:
        for ground in GROUNDS:
            found = contrast(colour(page, ink), colour(page, ground))
            expect(found >= READABLE, f"{ink} on {ground}: contrast {found:.2f}")
    for ink in ["ink", "soft"]:
        found = contrast(colour(page, ink), colour(page, "mark"))
        expect(found >= READABLE, f"{ink} on mark: contrast {found:.2f}")


def check_unfolded(page, where):
    """axe-core with everything unfolded. Of many elements of the same make a few are kept: it takes minutes for thousands."""
    page.evaluate("""() => {
        document.querySelectorAll('.pair:nth-of-type(n+3), figure:nth-of-type(n+2), svg > :not(title), tr:nth-of-type(n+5)').forEach(e => e.remove());
        document.querySelectorAll('details').forEach(e => e.open = true);
    }""")
    check_axe(page, where)
    page.reload()


def check_stories(page):
    """States are shown in the story and at the sentence that they belong to; differences of the stories are marked."""
    misplaced = page.evaluate("""() => [...document.querySelectorAll('.story .reasons')].filter(table => {
        const of = table.caption.textContent, line = table.parentElement.firstElementChild.classList;
        const story = table.closest('.story').querySelector('h4').textContent;
        return (of.includes('gold') && !(line.contains('gold') && story.includes('implausible'))) ||
            (of.includes('predicted') && !(line.contains('predicted') && !story.includes('predicted')));
    }).length""")
    expect(misplaced == 0, f"{misplaced} tables of states are at the wrong sentence")
    lacking = page.evaluate("""() => [...document.querySelectorAll('.pair')].filter(pair => {
        const runs = pair.dataset.run.split(' ').length, answers = pair.querySelectorAll('.answer').length;
        return answers !== (runs > 1 ? runs : 0) || pair.dataset.tier.split(' ').length !== runs || pair.querySelectorAll('.story').length !== 2;
    }).length""")
    expect(lacking == 0, f"{lacking} pairs lack the answer of a run")
    unlike = page.evaluate("() => [...document.querySelectorAll('.pair')].filter(pair => !pair.querySelector('.text b')).length")
    expect(unlike == 0, f"{unlike} pairs have no marked difference")


def check_structure(page):
    for landmark in ["banner", "navigation", "main", "contentinfo"]:
        expect(page.get_by_role(landmark).count() >= 1, f"there is no {landmark}")
    expect(page.locator("h1").count() == 1, "not one h1")
    drawings = page.locator("svg").count()
    expect(page.locator("svg[role=img] > title").count() == drawings, "a drawing has no title")
    unnamed = page.evaluate("""() => [...document.querySelectorAll('button, select, input')].filter(e =>
        !(e.textContent.trim() || e.labels?.length || e.getAttribute('aria-label'))).length""")
    expect(unnamed == 0, f"{unnamed} controls without a name")
    ids = page.evaluate("() => [...document.querySelectorAll('[id]')].map(e => e.id)")
    expect(len(ids) == len(set(ids)), "an id occurs twice")
    return drawings


def check_filters(page):
    """Every outcome has as many pairs as its button shows; the kinds add up; the search finds an id, and no unknown text."""
    if not page.locator(".pair").count():
        return 0
    pairs = page.locator(".pair[data-run~='0']").count()
    expect(visible(page) == pairs, "not all pairs are shown at first")
    sums = {"tier": 0, "kind": 0, "differs": 0}
    for choice in page.locator("[data-filter]").all():
        key, value = choice.get_attribute("data-filter"), choice.get_attribute("data-value")
        choice.click()
        expect(choice.get_attribute("aria-pressed") == "true", f"{value} is not pressed")
        shown = visible(page)
        expect(page.locator("#count").inner_text() == f"{shown} of {pairs} pairs", "the count is wrong")
        if value:
            sums[key] += shown
            if key in ("tier", "differs"):
                expect(int(choice.locator("span").inner_text()) == shown, f"{value}: {shown} pairs are shown")
            # The tier of the first run, which is selected, comes first.
            is_other = f":not([data-{key}{'^' if key == 'tier' else ''}='{value}'])"
            others = page.locator(f".pair:visible{is_other}").count() if value.isalnum() else 0
            expect(others == 0, f"{value}: others are shown")
            page.locator(f"[data-filter={key}][data-value='']").click()
    differing = page.locator(".pair[data-differs=yes]").count()
    expect(sums["tier"] == pairs and sums["kind"] in (0, pairs) and sums["differs"] == differing, f"{sums} of {pairs}, {differing} differ")
    for attribute in page.locator("#attribute option").all()[1:]:
        name = attribute.inner_text()
        page.select_option("#attribute", name)
        others = page.locator(f".pair:visible:not([data-attribute~='{name}'])").count()
        expect(others == 0 and visible(page) == page.locator(f".pair[data-run~='0'][data-attribute~='{name}']").count(), name)
    if page.locator("#attribute").count():
        page.select_option("#attribute", "")
    for apostrophe in "’ʼ`":
        page.fill("#search", "'")
        found = visible(page)
        page.fill("#search", apostrophe)
        expect(visible(page) == found, f"{apostrophe} is not searched as an apostrophe")
    last = page.locator(".pair[data-run~='0']").last.locator(".id").text_content()
    page.fill("#search", last)
    expect(1 <= visible(page) < max(pairs, 2), f"search for {last!r}: {visible(page)}")
    page.fill("#search", "nothing has these words")
    expect(visible(page) == 0 and page.locator("#none").is_visible(), "search finds what is not there")
    page.fill("#search", "")
    expect(visible(page) == pairs, "an empty search hides pairs")
    return pairs


def expect_landed(page, pair, how):
    """The top of the pair is below the bar at the top, or the page ends."""
    page.wait_for_timeout(100)
    top, gap, is_shown = page.evaluate("""id => { const e = document.getElementById(id), root = document.documentElement;
        return [e.getBoundingClientRect().top, root.scrollHeight - root.clientHeight - root.scrollTop, !e.hidden]; }""", pair)
    expect(is_shown, f"{how}: {pair} is hidden")
    expect(40 <= top <= 110 or (gap <= 2 and 40 <= top <= page.viewport_size["height"]), f"{how}: {pair} is at {top:.0f} pixels")


def check_address(page, path, pairs):
    """Links lead to their pairs, also where a filter hides them; the address keeps what is filtered."""
    if not pairs:
        return
    for link in page.locator(".to-pair").all():
        link.click()
        pair = link.get_attribute("href")[1:]
        expect(page.locator(f"#{pair} .id").inner_text() == link.inner_text(), f"{pair} is another pair")
        expect_landed(page, pair, "a link")
    middle = f"pair-{page.locator('.pair').count() // 2}"
    page.goto("about:blank")
    page.goto(path.as_uri() + "#" + middle)
    expect_landed(page, middle, "the address")
    page.goto("about:blank")
    page.goto(path.as_uri() + f"#{middle}&q=nothing+has+these+words")
    expect_landed(page, middle, "the address, filtered")
    expect(page.locator("#count").inner_text().startswith("0 of "), "the filter of the address is lost")
    page.locator(f"#{middle} .id a").click()
    expect_landed(page, middle, "the link of the pair")
    page.fill("#search", "")
    page.locator("[data-filter=tier]").last.click()
    page.fill("#search", "l’acqua e")
    shown = visible(page)
    page.reload()
    expect(page.input_value("#search") == "l’acqua e" and visible(page) == shown, "a reload loses the search")
    expect(page.locator("[data-filter=tier]").last.get_attribute("aria-pressed") == "true", "a reload loses the outcome")
    page.locator("nav a").first.click()
    page.wait_for_timeout(100)
    expect("#scores&" in page.url and "&tier=" in page.url, f"a link within the page loses the filters: {page.url}")
    page.fill("#search", "")
    if page.locator("#run").count():
        page.select_option("#run", "0")
    page.locator("[data-filter=tier]").first.click()
    expect("#" not in page.url, f"filters stay in the address: {page.url}")


def check_saving(page):
    """Figures are saved with colours and numbers, made here."""
    for box in page.locator(".save").all()[:2]:
        for kind in ["svg", "csv"]:
            with page.expect_download() as download:
                box.locator(f"[data-save={kind}]").click()
            text = pathlib.Path(download.value.path()).read_text()
            expect(download.value.suggested_filename.endswith(f".{kind}"), download.value.suggested_filename)
            if kind == "svg":
                expect(text.startswith("<svg") and "rgb(" in text and "#010101" not in text, "the drawing has no colours")
            else:
                rows = box.locator("xpath=..").locator("tr").count()
                expect(len(text.splitlines()) == rows > 1, f"{rows} rows, not {len(text.splitlines())}")


def check_keys(page, pairs):
    page.reload()
    page.keyboard.press("Tab")
    expect(page.evaluate("document.activeElement.className") == "skip", "the first stop is not the skip link")
    page.keyboard.press("Enter")
    if pairs < 2:
        return
    focused = "document.activeElement.id"
    for key, place in [("j", 0), ("j", 1), ("ArrowDown", min(2, pairs - 1)), ("k", min(1, pairs - 2)), ("ArrowUp", 0)]:
        page.keyboard.press(key)
        expect(page.evaluate(focused) == f"pair-{place}", f"{key} leads to {page.evaluate(focused)}")
    page.keyboard.press("o")
    expect(page.locator("#pair-0 .more").last.get_attribute("open") is not None, "o opens nothing")
    page.keyboard.press("/")
    expect(page.evaluate(focused) == "search", "/ does not search")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    expect(outline != "none", "focus can't be seen")
    page.keyboard.press("Escape")
    page.uncheck("#keys")
    page.reload()
    page.keyboard.press("j")
    page.keyboard.press("/")
    expect(page.evaluate("document.activeElement === document.body"), "keys that are switched off work")
    page.check("#keys")
    start, _, _ = page.url.partition("#")  # an anchor would be where the keys start
    page.goto("about:blank")
    page.goto(start)
    for key in ["Tab", "Tab", "Enter", "Tab"]:
        page.keyboard.press(key)
    expect(page.evaluate("document.activeElement.closest('#filters') !== null"), "no skip link leads to the filters")


def check_theme(page):
    ground = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(ground)
    page.click("#theme")
    expect(page.evaluate(ground) != before, "the theme does not change")
    page.click("#theme")
    expect(page.evaluate(ground) == before, "the theme does not change back")


def check_text(text):
    found = ELSEWHERE.search(text)
    expect(found is None, f"something from elsewhere: {found and text[found.start() - 40:found.end() + 40]!r}")


def check(browser, arguments):
    path, screenshots = arguments.page.resolve(), arguments.screenshots
    check_text(path.read_text())
    troubles, requests = [], []
    for scheme, size in VIEWS:
        page = browser.new_page(viewport=size, color_scheme=scheme, device_scale_factor=1.5 if size is PHONE else 1)
        page.on("console", lambda message: troubles.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: (troubles.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        check_colours(page)
        check_width(page, size)
        drawings, pairs = check_structure(page), check_filters(page)
        check_unfolded(page, size)
        check_stories(page)
        check_address(page, path, pairs)
        check_saving(page)
        check_theme(page)
        check_keys(page, pairs)
        if screenshots:
            name = f"{'phone' if size is PHONE else 'desktop'}-{scheme}"
            page.goto("about:blank")
            page.goto(path.as_uri())
            page.screenshot(path=screenshots / f"{name}.png")
            for section in ["curves", "analysis", "stories"]:
                if page.locator(f"#{section}").count():
                    page.evaluate("id => document.getElementById(id).scrollIntoView({behavior: 'instant'})", section)
                    page.wait_for_timeout(150)
                    page.screenshot(path=screenshots / f"{name}-{section}.png")
        page.close()
    expect(not troubles, f"the console says: {troubles}")
    here = (path.as_uri() + "#", "data:image/svg+xml,", "data:text/csv")
    outside = {url for url in requests if url not in (path.as_uri(), "about:blank") and not url.startswith(here)}
    expect(not outside, f"asked for {outside}")
    return f"checked: {pairs} pairs, {drawings} drawings; desktop and phone, light and dark"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--screenshots", type=pathlib.Path)
    run(check, parser.parse_args())


if __name__ == "__main__":
    main()
