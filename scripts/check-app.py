#!/usr/bin/env python3
"""Opens the page of `tiered app` in headless Chromium and checks that one can try runs on it.

It writes stories by mouse and by keyboard, at the size of a desktop and of a phone, in light and dark. It checks that the console has
no messages, that nothing is loaded from elsewhere, that axe-core finds no problem, and that nothing is wider than a phone.

usage: check-app.py TIERED RUN... [--screenshots FOLDER] [--assets FOLDER]
Exit code 0: all checks passed; 1: one failed; 3: skipped, since there is no browser (scripts/get-readers.sh installs one).
"""
import argparse
import pathlib
import re
from urllib.parse import parse_qs, urlsplit

from app_browser import DESK, PHONE, VIEWS, Watch, add_arguments, check_axe, check_width, expect, run, server

PLAUSIBLE = "Mia opened the drawer.\nMia took a spoon out of the drawer."
IMPLAUSIBLE = "Mia locked the drawer.\nMia took a spoon out of the drawer."


def answered(page, runs=1):
    """Waits until the answers fit the text."""
    page.wait_for_function("count => document.querySelectorAll('.card:not(.stale) .verdict').length === count", arg=runs)


def write(page, *stories):
    for number, story in enumerate(stories):
        page.fill(f"#story{number}", story)
    page.wait_for_timeout(350)
    answered(page)


def check_try(page, watch):
    """Verdict, marks, states with their timeline, what changes, the link; with the mouse."""
    for other in page.locator("fieldset input").all()[1:]:
        other.uncheck()
    page.select_option("#example", "0")
    page.wait_for_selector(".verdict")
    answered(page)
    said = re.compile(r"^Story [12] is (plausible|only slightly more likely) \d")
    expect(said.match(page.locator(".verdict").inner_text().replace("\u00a0", " ")), page.locator(".verdict").inner_text())
    expect(page.locator(".sentences li").count() == 6, "not six sentences")
    page.select_option("#decode", "pair")
    page.wait_for_timeout(350)
    answered(page)
    expect(page.locator("mark").count() == 2, "not two sentences are marked as in conflict")
    chip = page.locator(".chips button").first
    chip.click()
    expect(page.locator(".why table").count() == 1, "a click on an entity shows no timeline")
    expect(page.locator(".why thead th").count() == 3 and page.locator(".why tbody tr").count() == 3, "the timeline has another form")
    expect(chip.get_attribute("aria-pressed") == "true", "the chosen entity is not marked")
    if page.locator(".state").count():
        state = page.locator(".state").first
        words = state.locator("[lang]").inner_text()
        state.click()
        expect(page.locator(".why caption").inner_text().split(":")[0] in words, "the timeline is of another entity")
        expect(page.locator(".why td b").count() >= 1, "the predicted state is not in its timeline")


def check_changes(page):
    """An edit says what it changes; a held answer stays the one to compare with."""
    write(page, PLAUSIBLE, IMPLAUSIBLE)
    before = page.locator(".verdict").inner_text()
    page.locator("button:has-text('Compare with this answer')").click()
    write(page, PLAUSIBLE, IMPLAUSIBLE.replace("locked", "ate"))
    write(page, IMPLAUSIBLE, PLAUSIBLE)
    changed = page.locator(".changes").inner_text()
    expect(("→" in changed) == (before != page.locator(".verdict").inner_text()) or "conflict probability" in changed, changed)
    write(page, PLAUSIBLE, IMPLAUSIBLE)
    expect("Nothing changed" in page.locator(".changes").inner_text(), "the same stories differ from the held answer")


def check_link(page, watch):
    """The address holds the stories and no secret; opened anew, it shows the same."""
    write(page, "Luca è entrato.\nLuca ha spento la luce & è uscito.", "Luca è entrato.\nLuca ha rotto la “luce” #1.")
    said = page.locator(".verdict, .both").all_inner_texts()
    expect(watch.token not in page.url, "the token is in the address")
    parts = parse_qs(urlsplit(page.url).fragment)
    expect(parts["s2"] == ["Luca è entrato.\nLuca ha rotto la “luce” #1."], f"{parts}")
    page.reload()
    page.wait_for_selector(".verdict")
    answered(page)
    again = page.locator(".verdict, .both").all_inner_texts()
    expect(again == said, f"a link shows something else: {again}, not {said}")
    page.locator("#copy").click()
    page.wait_for_function("() => document.getElementById('copied').textContent !== ''")


def check_refusals(page):
    """What can't be judged is said, and nothing stale stays."""
    page.fill("#story0", "One sentence.")
    page.wait_for_timeout(350)
    expect("at least two sentences" in page.locator("#note").inner_text(), "a short story is not refused")
    expect(page.locator(".verdict").count() == 0, "the verdict on other stories stays")
    page.fill("#story0", PLAUSIBLE)
    page.fill("#story1", PLAUSIBLE)
    page.wait_for_timeout(350)
    expect("are the same" in page.locator("#note").inner_text(), "equal stories are not refused")
    page.fill("#story1", IMPLAUSIBLE)
    page.fill("#names0", "x" * 300)
    page.wait_for_selector(".card .wrong")
    expect("200 characters" in page.locator(".card .wrong").inner_text(), "the server's refusal is not shown")
    page.fill("#names0", "Mia, <b>drawer</b>")
    page.wait_for_selector(".verdict")
    answered(page)
    expect(page.locator(".chips button:has-text('<b>drawer</b>')").count() == 2, "text is read as HTML")
    page.fill("#names0", "")
    page.fill("#story1", "")
    page.wait_for_timeout(350)
    answered(page)
    expect(page.locator(".verdict").inner_text().startswith(("The story is", "A conflict", "No conflict")), "no verdict on one story")


def check_runs(page, runs):
    """Several runs stand side by side; each can be left out. A run that needs two stories says so."""
    if len(runs) < 2:
        return
    write_both = lambda: (page.fill("#story0", PLAUSIBLE), page.fill("#story1", IMPLAUSIBLE), page.wait_for_timeout(350))
    boxes = page.locator("fieldset input")
    expect(boxes.count() == len(runs), "not every run is offered")
    boxes.nth(1).check()
    write_both()
    answered(page, 2)
    tops = [page.locator(".results > .card").nth(i).bounding_box() for i in (0, 1)]
    if page.viewport_size["width"] > 1000:
        expect(tops[0]["y"] == tops[1]["y"], "two runs are not side by side")
    boxes.nth(0).uncheck()
    expect(page.locator(".results > .card").count() == 1, "a run that is left out stays")
    boxes.nth(0).check()
    boxes.nth(1).uncheck()
    page.wait_for_timeout(350)
    answered(page)


def check_keyboard(page, address):
    """Everything of Try without a mouse."""
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_selector("#story0")
    active = lambda: page.evaluate("document.activeElement.id || document.activeElement.className")
    page.keyboard.press("Tab")
    expect(active() == "skip", f"the first stop is {active()}")
    page.keyboard.press("Enter")
    expect(active() == "main", "the skip link leads elsewhere")
    page.keyboard.press("Tab")
    expect(active() == "story0", f"after it comes {active()}")
    page.keyboard.insert_text(PLAUSIBLE)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(active() == "story1", f"the second story is no stop: {active()}")
    page.keyboard.insert_text(IMPLAUSIBLE)
    page.wait_for_selector(".card:not(.stale) .verdict")
    page.wait_for_timeout(700)
    for _ in range(40):
        page.keyboard.press("Tab")
        if active() == "chip":
            break
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    expect(active() == "chip" and outline != "none", "the keyboard does not reach the entities, or the focus can't be seen")
    name = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Enter")
    expect(page.locator(".why").count() == 1 and page.evaluate("document.activeElement.textContent") == name, "Enter loses the focus or shows nothing")
    page.keyboard.press("Space")
    expect(page.locator(".why").count() == 0, "Space does not close the timeline")


def check_language(page):
    """The page in Italian and back; the stories stay."""
    text = page.input_value("#story0")
    page.select_option("#language", "it")
    expect(page.locator("label[for=story0]").inner_text() == "Storia 1" and page.locator("html").get_attribute("lang") == "it", "the page is not in Italian")
    expect(page.input_value("#story0") == text, "the language takes the story away")
    check_axe(page, "Italian")
    page.select_option("#language", "en")


def check_theme(page):
    ground = "getComputedStyle(document.body).backgroundColor"
    grounds = set()
    for _ in range(3):
        grounds.add(page.evaluate(ground))
        page.click("#theme")
    expect(len(grounds) == 2, f"the theme does not change: {grounds}")


def check_closed(browser, watch):
    """Without the token the page asks for it, and takes it."""
    page = watch.open(browser, "light", DESK, watch.host + "/#s1=A.%0AB.")
    page.wait_for_selector("#token")
    check_axe(page, "without the token")
    page.fill("#token", watch.address)
    page.keyboard.press("Enter")
    page.wait_for_selector("#story0")
    expect(page.input_value("#story0") == "A.\nB.", "the stories of the link are lost")
    page.close()


def check_hurry(page):
    """While one types, only the last text is answered."""
    page.fill("#story0", PLAUSIBLE)
    for number in range(12):
        page.fill("#story1", IMPLAUSIBLE.replace("locked", f"locked {number}"))
        page.wait_for_timeout(330 if number % 3 == 0 else 20)
    page.wait_for_timeout(400)
    answered(page)
    expect("locked 11 the" in page.locator(".sentences").last.inner_text(), "an old answer is shown")


def check(browser, arguments):
    runs = arguments.runs
    with server(arguments.program, runs) as address:
        watch = Watch(address, arguments.assets)
        watch.expected += ["401", "422"]  # of checks that a refusal is shown
        check_closed(browser, watch)
        for scheme, size in VIEWS:
            name = f"{'phone' if size is PHONE else 'desktop'}-{scheme}"
            page = watch.open(browser, scheme, size)
            page.wait_for_selector("#example")
            check_try(page, watch)
            check_axe(page, f"try, {name}")
            check_width(page, name)
            if arguments.screenshots:
                page.evaluate("scrollTo(0, 0)")
                page.screenshot(path=arguments.screenshots / f"try-{name}.png", full_page=True)
            check_changes(page)
            check_link(page, watch)
            check_refusals(page)
            check_runs(page, runs)
            check_axe(page, f"try, {name}, at the end")
            check_width(page, name)
            check_language(page)
            check_theme(page)
            check_hurry(page)
            check_keyboard(page, address)
            page.close()
        watch.check()
    return f"checked: Try with {len(runs)} runs; desktop and phone, light and dark"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    parser.add_argument("runs", type=pathlib.Path, nargs="+")
    run(check, parser.parse_args())


if __name__ == "__main__":
    main()
