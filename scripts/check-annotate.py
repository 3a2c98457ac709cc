#!/usr/bin/env python3
"""Annotates stories on the page of `tiered app --project` in headless Chromium and checks that it works.

It writes a story and its versions, labels by keyboard, accepts proposals, marks the conflict, undoes, lets two windows clash, and exports; at the size
of a desktop and of a phone, in light and dark. Once it also edits as another person while something is typed, and lets the server refuse, hang and
change its project. The projects are new ones.

usage: check-annotate.py TIERED [RUN] [--screenshots FOLDER] [--assets FOLDER] [--count FILE [--story ID]]
Without a run nothing is proposed.
Exit code 0: all checks passed; 1: one failed; 3: skipped, since there is no browser (scripts/get-readers.sh installs one).
"""
import argparse
import json
import pathlib
import re
import subprocess
import tempfile
from urllib.parse import parse_qs, urlsplit

from app_browser import DESK, PHONE, VIEWS, Watch, add_arguments, check_axe, check_width, expect, run, server

STORY = ["Rosa filled the kettle.", "Rosa switched the kettle on.", "Rosa put a cup on the table.", "Rosa poured the hot water into the cup."]

EVENTS = "**/api/annotate/events*"  # what a window hears of the others


def begin(page, who, own_pass="main"):
    """Says who annotates, and in which pass."""
    page.locator("#tabs button").nth(1).click()
    page.wait_for_selector("#who")
    page.fill("#pass", own_pass)
    page.fill("#who", who)
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-key=new]")


def settled(page):
    """Waits until all requests are answered and shown."""
    for _ in range(2):
        page.wait_for_timeout(60)
        page.wait_for_selector("main:not([aria-busy=true])", state="attached")


def cell(page, column, row):
    return page.locator(".grid tbody tr").nth(row).locator("td").nth(column)


def focus(page, column, row):
    cell(page, column, row).focus()


def focused(page):
    """Column and row of the cell that has the focus."""
    return page.evaluate("""() => { const e = document.activeElement, row = e.closest('tr');
        return e.matches('td') ? [[...row.querySelectorAll('td')].indexOf(e), [...row.parentElement.children].indexOf(row)] : null; }""")


def write_story(page):
    page.locator("[data-key=new]").click()
    expect(page.evaluate("document.activeElement.id") == "new-story", "the form of a new story has not the focus")
    page.keyboard.insert_text("\n".join(STORY))
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector(".editing")
    settled(page)
    expect(page.locator(".editing li").count() == len(STORY), "not every sentence is there")
    expect(page.locator("#add-all").count() == 1, "no people and things are proposed")
    page.locator("#add-all").click()
    page.wait_for_selector(".grid")
    settled(page)
    names = page.locator(".grid thead th").all_inner_texts()[1:]
    expect({"Rosa", "kettle", "cup", "table"} <= set(names), f"the columns are {names}")
    expect("Actor" in page.locator("[data-key^='entity ']").first.inner_text(), "the actor is not Rosa")
    return names


def check_labels(page, names):
    """Labels by keyboard alone; undo and redo; the select of the panel says the same."""
    kettle = names.index("kettle")
    focus(page, kettle, 0)
    page.keyboard.press("w")
    expect("digit" in page.locator(".wait").inner_text(), "no word about the digit that is awaited")
    page.keyboard.press("2")
    settled(page)
    select = page.locator("[data-key='label wet']")
    expect(select.input_value() == "2" and "wet" in cell(page, kettle, 0).inner_text(), "w 2 sets no label")
    expect(focused(page) == [kettle, 0], f"the focus is lost: {focused(page)}")
    page.keyboard.press("Control+z")
    settled(page)
    expect(page.locator("[data-key='label wet']").input_value() == "", "Ctrl Z undoes nothing")
    page.keyboard.press("Control+y")
    settled(page)
    expect(page.locator("[data-key='label wet']").input_value() == "2", "Ctrl Y redoes nothing")
    page.keyboard.press("w")
    page.keyboard.press("Backspace")
    settled(page)
    expect(page.locator("[data-key='label wet']").input_value() == "", "Backspace removes no label")
    page.keyboard.press("w")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowLeft")
    expect(focused(page) == [kettle - 1, 1], f"the arrows lead to {focused(page)}")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    expect(outline != "none", "the focus of a cell can't be seen")
    scroll = page.evaluate("() => { const grid = document.querySelector('.scroll'); grid.scrollTo(60, 0); window.scrollTo(0, 200); return [grid.scrollLeft, window.scrollY]; }")
    page.evaluate("() => document.querySelector('.scroll td.here').focus({preventScroll: true})")
    page.keyboard.press("p")
    page.keyboard.press("Escape")
    after = page.evaluate("() => [document.querySelector('.scroll').scrollLeft, window.scrollY]")
    expect(after == scroll, f"the page scrolls by itself: {scroll}, {after}")
    focus(page, kettle, 1)
    page.select_option("[data-key='label power']", "2")
    settled(page)
    expect("power" in cell(page, kettle, 1).inner_text(), "the list of labels sets nothing")


def check_proposals(page):
    """Enter accepts a cell and goes on; Shift Enter accepts a sentence; Delete dismisses."""
    page.wait_for_selector(".grid .proposed")
    count = lambda: page.locator(".grid .proposed").count()
    before, own = count(), page.locator(".grid .own").count()
    first = page.locator(".grid td:has(.proposed)").first
    there = first.locator(".proposed").count()
    first.focus()
    at = focused(page)
    page.keyboard.press("Enter")
    settled(page)
    expect(count() == before - there and page.locator(".grid .own").count() == own + there, f"Enter accepted {before - count()} of {there} proposals")
    expect(focused(page) not in (None, at), "Enter does not go on")
    expect(page.locator(".grid td:focus .proposed").count() > 0, "the next cell has no proposals")
    there = page.locator(".grid td:focus .proposed").count()
    left = count()
    page.keyboard.press("Delete")
    expect(count() == left - there, "Delete dismisses nothing")
    page.locator(".grid td:has(.proposed)").first.focus()
    row = focused(page)[1]
    page.select_option("#bound", "0.3")
    focus(page, 0, row)
    left = page.locator(".grid tbody tr").nth(row).locator(".proposed").count()
    page.keyboard.press("Shift+Enter")
    settled(page)
    now = page.locator(".grid tbody tr").nth(row).locator(".proposed").count()
    expect(now < left, "Shift Enter accepts nothing")
    page.keyboard.press("Control+z")
    settled(page)
    expect(page.locator(".grid tbody tr").nth(row).locator(".proposed").count() == left, "undo takes back only a part")


def check_answers_of_version(page, has_run):
    """A proposed conflict is taken over by a click; a shared sentence gets a copy of its own; the location of the story is kept."""
    if has_run:
        page.locator("[data-key^='conflict ']").first.click()
        settled(page)
        expect(page.locator(".editing .marked").count() == 2, "a click on a proposed conflict marks nothing")
        page.locator("#undo").click()
        settled(page)
        expect(page.locator(".editing .marked").count() == 0, "undo leaves the conflict")
    page.locator("[data-key^='edit ']").last.click()
    expect("Also in 1" in page.locator(".sentence-form").inner_text(), "it is not said where else the sentence stands")
    page.locator("[data-key='sentence own']").click()
    settled(page)
    page.locator("[data-key^='edit ']").last.click()
    expect(page.locator("[data-key='sentence own']").count() == 0, "the sentence is still shared")
    page.locator("[data-key^='edit ']").last.click()
    page.fill("#location", "kitchen")
    page.keyboard.press("Enter")
    settled(page)
    expect(page.input_value("#location") == "kitchen", "the location is not kept")


def check_versions(page, has_run):
    """A cloze version by another sentence, an order version by dragging, another by clicks on handles; the conflict by key."""
    page.locator("[data-key^='edit ']").first.click()
    page.fill("#sentence-text", "Rosa unplugged the kettle.")
    page.locator("[data-key='sentence new_version']").click()
    page.wait_for_function("() => document.getElementById('title').textContent.includes('cloze')")
    settled(page)
    expect("unplugged" in page.locator(".editing li").first.inner_text(), "the version has another sentence")
    check_answers_of_version(page, has_run)
    for row, words in [(0, "Mark the second"), (1, "The conflict is marked")]:
        focus(page, 0, row)
        page.keyboard.press("c")
        settled(page)
        expect(words in page.locator("p[role=status]").last.inner_text() or words in page.locator("#status").inner_text(), f"the page does not say: {words}")
    expect(page.locator(".editing .marked").count() == 2, "not two sentences are marked")
    page.locator("[data-key^='version ']").first.click()
    page.wait_for_function("() => document.getElementById('title').textContent.includes('plausible')")
    settled(page)
    page.evaluate("document.querySelector('.editing').scrollIntoView({block: 'center'})")  # to scroll while dragging drags something else
    page.locator(".handle").nth(1).drag_to(page.locator(".editing li").nth(3))
    page.wait_for_function("() => document.getElementById('title').textContent.includes('order')")
    settled(page)
    texts = page.locator(".editing .grow").all_inner_texts()
    expect(texts == [STORY[0], STORY[3], STORY[2], STORY[1]], f"dragging made {texts}")
    page.locator(".handle").nth(1).focus()
    page.keyboard.press("Enter")
    page.locator(".handle").nth(2).focus()
    page.keyboard.press("Enter")
    settled(page)
    texts = page.locator(".editing .grow").all_inner_texts()
    expect(texts == [STORY[0], STORY[2], STORY[3], STORY[1]], f"the keyboard swapped to {texts}")
    expect(page.locator(".stories li").count() == 3, "the list has not three stories")
    page.locator("[data-key=done]").check()
    settled(page)
    expect("✓" in page.locator(".stories [aria-current=page]").inner_text(), "the list does not say that it is done")


def deaf(route):
    """Answers that nothing happened."""
    since = int(parse_qs(urlsplit(route.request.url).query)["since"][0])
    route.fulfill(json={"schema_version": 1, "revision": since, "events": [], "more": False})


def clash(page, other, row):
    """Both windows label the same cell. The page hears of no other changes, from before on until the route is taken away."""
    page.route(EVENTS, deaf)
    focus(other, 1, row)
    other.keyboard.press("x")
    other.keyboard.press("2")
    settled(other)
    focus(page, 1, row)
    page.keyboard.press("x")
    page.keyboard.press("1")
    page.wait_for_selector("#clash")


def check_two(browser, watch, page, scheme, size):
    """Another person in another window sees changes, and both are told of a clash."""
    watch.expected += ["409"]
    other = watch.open(browser, scheme, size)
    begin(other, "Bo")
    title = page.locator("#title").inner_text()
    for _ in range(5):
        if other.locator("#title").inner_text() == title:
            break
        other.locator(f"[data-key='story {title.split(' ')[0]}']").click()
        settled(other)
    clash(page, other, 0)
    page.unroute(EVENTS)
    told = page.locator("#clash li").inner_text()
    expect("Bo" in told and ", sentence 1, mixed: yours not mixed" in told, f"the clash says: {told}")
    check_axe(page, "a clash")
    page.locator("#clash button").first.click()
    settled(page)
    expect(page.locator("[data-key='label mixed']").input_value() == "1", "the own value does not win")
    other.wait_for_function("() => document.querySelector('.grid td:focus, .grid td.here').textContent.includes('not mixed')")
    other.close()


def check_waiting(browser, watch, page, scheme, size):
    """A clash is seen wherever the grid is; what waits for the choice is counted, is not lost without asking, and is sent after it."""
    other = watch.open(browser, scheme, size)
    begin(other, "Cy")
    other.locator(f"[data-key='story {page.locator('#title').inner_text().split(' ')[0]}']").click()
    settled(other)
    clash(page, other, 3)
    is_seen = page.evaluate("() => { const { top, bottom } = document.getElementById('clash').getBoundingClientRect(); return bottom > 0 && top < innerHeight; }")
    expect(is_seen and page.evaluate("document.activeElement.id") == "clash", "the clash is not seen")
    focus(page, 1, 2)
    page.keyboard.press("x")
    page.keyboard.press("2")
    expect("1 more" in page.locator("#clash").inner_text(), "it is not said that a change waits")
    expect(page.evaluate(ASKED), "the page closes while a change is not saved")
    page.locator("#clash button").last.click()
    settled(page)
    page.unroute(EVENTS)
    expect("not mixed" not in cell(page, 1, 3).inner_text(), "the other's value does not win")
    page.wait_for_function(f"() => !({ASKED})()")
    focus(page, 1, 2)
    expect(page.locator("[data-key='label mixed']").input_value() == "2", "what waited is not sent")
    other.close()


def check_half_conflict(browser, watch, page, scheme, size):
    """A conflict that another person marks between the two halves of one's own is a clash."""
    page.locator("[data-key^='version '][data-key*='-C']").first.click()
    page.wait_for_function("() => document.getElementById('title').textContent.includes('cloze')")
    settled(page)
    other = watch.open(browser, scheme, size)
    begin(other, "Di")
    other.locator(f"[data-key='story {page.locator('#title').inner_text().split(' ')[0]}']").click()
    settled(other)
    marks = lambda of, *rows: [(of.locator("[data-key^='mark ']").nth(row).click(), settled(of)) for row in rows]
    pressed = lambda: [mark.get_attribute("aria-pressed") for mark in page.locator("[data-key^='mark ']").all()]
    marks(page, 0, 2)  # no longer 1 and 2, but 2 and 3
    marks(page, 1)  # no longer 2; the half is 3
    other.wait_for_function("() => document.querySelectorAll('.editing .marked').length === 0")
    marks(other, 0, 3)
    page.wait_for_function("() => document.querySelectorAll('.editing .marked').length === 3")
    marks(page, 1)
    page.wait_for_selector("#clash")
    page.locator("#clash button").last.click()
    settled(page)
    expect(pressed() == ["true", "false", "false", "true"], f"the other's conflict is gone: {pressed()}")
    other.close()


def check_passes(browser, watch, project, program, scheme, size):
    """A second pass shows nothing of the first one. Both are written as story files, which `tiered data agreement` compares."""
    other = watch.open(browser, scheme, size)
    begin(other, "Cleo", "second")
    other.wait_for_selector(".grid")
    settled(other)
    expect(other.locator(".grid .own").count() == 0, "the second pass shows labels of the first")
    focus(other, 1, 0)
    other.keyboard.press("x")
    other.keyboard.press("2")
    settled(other)
    expect(other.locator(".grid .own").count() == 1, "the second pass takes no label")
    with other.expect_download():
        other.locator("[data-key=trip]").click()
    other.close()
    files = [str(project / f"{name}.json") for name in ("main", "second")]
    compared = subprocess.run([program, "data", "agreement", *files], capture_output=True, text=True)
    expect(compared.returncode == 0 and "mixed" in compared.stdout, compared.stdout + compared.stderr)


def check_files(page, program):
    """The exported file passes `tiered data check`; it can be imported again."""
    with page.expect_download() as download:
        page.locator("[data-key=trip]").click()
    path = pathlib.Path(download.value.path())
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "stories.json"
        file.write_text(path.read_text())
        stories = next(iter(json.loads(file.read_text()).values()))
        expect(len(stories) >= 2, f"{len(stories)} stories are exported")
        checked = subprocess.run([program, "data", "check", str(file)], capture_output=True, text=True)
        expect(checked.returncode == 0, checked.stdout + checked.stderr)
        before = page.locator(".stories li").count()
        page.set_input_files("#import", str(file))
        page.wait_for_function("before => document.querySelectorAll('.stories li').length > before", arg=before)
    settled(page)


ENGLISH = {"the", "is", "of", "and", "sentence", "label", "story", "undo"}


def check_told_in_italian(page):
    """What the server tells of a story is in the language of the page: hints, and what undo takes back."""
    hints = " ".join(page.locator(".hints li").all_inner_texts())
    undo = page.locator("#undo").get_attribute("title")
    for text in (hints, undo):
        expect(text and not ENGLISH & set(re.findall(r"\w+", text.lower())), f"in English: {text!r}")


def check_later(page):
    """A new window shows what was written."""
    texts = page.locator(".editing .grow").all_inner_texts()
    page.reload()
    page.wait_for_selector(".grid")
    settled(page)
    expect(page.locator(".editing .grow").all_inner_texts() == texts, "a reload shows another story")
    page.select_option("#language", "it")
    page.wait_for_selector(".grid")
    settled(page)
    check_axe(page, "Italian")
    expect(page.locator(".hints h3").inner_text() == "Avvisi", "the page is not in Italian")
    check_told_in_italian(page)
    page.select_option("#language", "en")
    page.wait_for_selector(".grid")
    settled(page)


def annotate(browser, arguments, scheme, size):
    runs = [arguments.run] if arguments.run else []
    name = f"{'phone' if size is PHONE else 'desktop'}-{scheme}"
    with tempfile.TemporaryDirectory() as folder, server(arguments.program, runs, project := pathlib.Path(folder) / "project") as address:
        watch = Watch(address, arguments.assets)
        page = watch.open(browser, scheme, size)
        page.wait_for_selector("#tabs button")
        begin(page, "Anna")
        check_axe(page, f"an empty project, {name}")
        names = write_story(page)
        check_labels(page, names)
        if runs:
            check_proposals(page)
        check_axe(page, f"annotate, {name}")
        check_width(page, name)
        if arguments.screenshots:
            page.evaluate("scrollTo(0, 0)")
            page.screenshot(path=arguments.screenshots / f"annotate-{name}.png", full_page=True)
        check_versions(page, bool(runs))
        check_axe(page, f"annotate, versions, {name}")
        check_two(browser, watch, page, scheme, size)
        check_waiting(browser, watch, page, scheme, size)
        check_half_conflict(browser, watch, page, scheme, size)
        check_passes(browser, watch, project, arguments.program, scheme, size)
        check_files(page, arguments.program)
        if runs:
            for order in ("unsure", "disagree"):
                page.select_option("#order", order)
                page.wait_for_function("() => /^(\\d+) of \\1 /.test(document.querySelector('.stories .fine')?.textContent ?? '')")
        check_later(page)
        check_width(page, f"{name}, at the end")
        page.close()
        watch.check()


def check_restart(browser, arguments):
    """An edit that meets a killed server is told as not saved, and is saved when the server is there again, with another token."""
    with tempfile.TemporaryDirectory() as folder:
        project = pathlib.Path(folder) / "project"
        with server(arguments.program, [], project) as address:
            watch = Watch(address, arguments.assets)
            watch.expected += ["ERR_CONNECTION_REFUSED", "401"]
            context = browser.new_context(locale="en-GB")
            page = watch.open(browser, "light", DESK, context=context)
            page.wait_for_selector("#tabs button")
            begin(page, "Anna")
            write_story(page)
        focus(page, 1, 0)
        page.keyboard.press("w")
        page.keyboard.press("2")
        page.wait_for_selector("#unsaved")
        expect("Not saved yet" in page.locator("#unsaved").inner_text(), "the page does not say that an edit is not saved")
        with server(arguments.program, [], project, address.split("/#")[0].split(":")[2]) as address:
            again = Watch(address, arguments.assets)
            other = again.open(browser, "light", DESK, context=context)
            other.wait_for_selector("#tabs button")
            page.wait_for_selector("#unsaved", state="detached")
            expect("wet" in cell(page, 1, 0).inner_text(), "the edit is lost")
            other.reload()
            other.wait_for_selector(".grid")
            expect("wet" in cell(other, 1, 0).inner_text(), "the edit was not saved")
            context.close()
            watch.check()
            again.check()


ASKED = "() => { const event = new Event('beforeunload', { cancelable: true }); dispatchEvent(event); return event.defaultPrevented; }"


def by_bob(page, *ops, story="1"):
    """Another person changes a story; then the page has heard of it."""
    with page.expect_response(lambda answer: "annotate/project?" in answer.url and "who=" in answer.url):
        page.evaluate("""async ([ops, story]) => { const { ask } = await import('/api.js'), { revision } = await ask('annotate/project');
            await ask('annotate/edit', { body: { story, ops, base: revision, who: 'Bob', window: 'bob', n: revision, pass: 'main', on_clash: 'tell' } }); }""", [list(ops), story])
    settled(page)


def sentence_ids(page):
    return [int(edit.get_attribute("data-key").split(" ")[1]) for edit in page.locator("[data-key^='edit ']").all()]


def type_in_sentence(page, n, text):
    page.locator("[data-key^='edit ']").nth(n).click()
    page.fill("#sentence-text", text)


def check_drafts(page):
    """What is typed stays in its form when others edit, in other forms and other stories, and while it is sent."""
    label = lambda value: {"op": "labels", "entity": 2, "sentence": 1, "values": {"open": value}}
    typed = {"#new-story": "A fox ran.", "#new-entity": "teapot", "#location": "kit"}
    page.locator("[data-key=new]").click()
    for field, text in typed.items():
        page.fill(field, text)
    page.locator("[data-key=new-person]").check()
    by_bob(page, label(1))
    expect({field: page.input_value(field) for field in typed} == typed and page.locator("[data-key=new-person]").is_checked(), "an edit of another person empties a form")
    expect(page.evaluate(ASKED), "the page closes although something typed was not sent")
    type_in_sentence(page, 1, "Rosa unplugged the kettle.")
    expect(page.locator("#new-story").count() == 0, "two forms are open")
    page.locator("[data-key='sentence correct']").focus()
    by_bob(page, label(2))
    expect(page.evaluate("document.activeElement.dataset.key") == "sentence correct", "a button loses the focus when another person edits")
    page.locator("[data-key=new]").click()
    expect(page.input_value("#new-story") == typed["#new-story"], "to open another form loses what was typed")
    page.locator("[data-key='cancel new story']").click()
    page.locator("[data-key='entity 2']").click()
    page.fill("#entity-name", "jug")
    page.locator("[data-key=entity-person]").check()
    by_bob(page, {"op": "rename", "entity": 2, "name": "pot"})
    expect(page.input_value("#entity-name") == "jug" and page.locator("[data-key=entity-person]").is_checked(), "the form of an entity is emptied")
    page.locator("[data-key='entity save']").click()
    page.wait_for_selector("#clash")
    expect("“pot”" in page.locator("#clash").inner_text(), "the clash does not say the other name")
    page.locator("#clash button").last.click()
    settled(page)
    expect(page.input_value("#location") == "kit", "the location is lost")
    by_bob(page, {"op": "location", "text": "bathroom"})
    page.locator("#location").press("Enter")
    page.wait_for_selector("#clash")
    page.locator("#clash button").first.click()
    settled(page)
    page.locator("[data-key='cancel new-entity 1']").click()
    expect(page.input_value("#location") == "kit" and page.input_value("#new-entity") == "", "a draft is not cleared")
    type_in_sentence(page, 1, "Rosa unplugged the kettle.")
    page.route("**/api/annotate/edit?*", lambda route: route.abort())
    page.locator("[data-key='sentence correct']").click()
    page.wait_for_selector("#unsaved")
    expect(not page.locator("#sentence-text").is_editable() and page.locator("[data-key='sentence correct']").is_disabled(), "what is being sent can be changed")
    page.unroute("**/api/annotate/edit?*")
    page.wait_for_selector("#unsaved", state="detached")
    settled(page)
    expect("unplugged" in page.locator(".editing li").nth(1).inner_text() and not page.evaluate(ASKED), "the sentence is not corrected")


def check_lost_drafts(page):
    """What was typed for a sentence follows it to a copy; if it is removed, or its story, the text is shown, and can be inserted."""
    lost = page.locator(".lost")
    first, *_ = ids = sentence_ids(page)
    type_in_sentence(page, 2, "Rosa took her best cup.")
    by_bob(page, {"op": "remove", "sentence": ids[2]})
    expect(page.evaluate("document.activeElement.value") == "Rosa took her best cup." and "Sentence 3" in lost.inner_text(), "what was typed for a sentence that is gone is not shown")
    check_axe(page, "lost drafts")
    lost.locator("button").first.click()
    settled(page)
    expect("best cup" in page.locator(".editing li").nth(2).inner_text() and lost.count() == 0, "it is not inserted in its place")
    by_bob(page, {"op": "version", "kind": "cloze", "sentence": first, "text": "Rosa broke the kettle."})
    page.locator("[data-key='version 1-C0']").click()
    settled(page)
    type_in_sentence(page, 1, "Rosa sang.")
    by_bob(page, {"op": "own", "sentence": sentence_ids(page)[1]}, story="1-C0")
    expect(page.input_value("#sentence-text") == "Rosa sang." and page.evaluate("document.activeElement.id") == "sentence-text", "the form does not follow its sentence to a copy")
    by_bob(page, {"op": "remove_story"}, story="1-C0")
    expect("1-C0" in lost.inner_text() and lost.locator("textarea").input_value() == "Rosa sang." and lost.locator("button").count() == 1, "what was typed for a story that is gone is not shown")
    lost.locator("button").click()
    expect(lost.count() == 0 and not page.evaluate(ASKED), "it can't be discarded")


def check_cell_gone(page):
    """When the cell with the focus is gone, nothing is labelled instead."""
    rows = page.locator(".grid tbody tr").count()
    own = page.locator(".grid .own").count()
    for where in ("cell", "select"):
        focus(page, 0, rows - 1)
        page.keyboard.press("w")
        if where == "select":
            page.locator("[data-key='label h_wet']").focus()
        by_bob(page, {"op": "remove", "sentence": sentence_ids(page)[-1]})
        rows -= 1
        expect(page.evaluate("document.activeElement.id") == "title" and "gone" in page.locator("#status").inner_text(), "the focus goes to another cell")
        page.keyboard.press("2")
        settled(page)
        expect(page.locator(".grid .own").count() == own, "another cell is labelled")
    focus(page, 1, 0)
    page.keyboard.press("w")
    by_bob(page, {"op": "kind", "entity": 2, "person": True})
    page.keyboard.press("2")
    settled(page)
    expect(page.locator(".wait").inner_text() == "" and page.locator(".grid .own").count() == own, "a person gets an attribute of things")
    page.locator("[data-key^='label ']").first.focus()
    page.evaluate("() => { window.list = document.activeElement; }")
    by_bob(page, {"op": "location", "text": "garden"})
    expect(page.evaluate("document.activeElement === window.list"), "an open list of labels is replaced")
    of_other_kind = page.locator("[data-key='label edible']")
    by_bob(page, {"op": "labels", "entity": 2, "sentence": sentence_ids(page)[0], "values": {"edible": 1}})
    of_other_kind.select_option("")
    settled(page)
    expect(of_other_kind.count() == 0, "a label of the other kind can't be taken away")


def check_keys(page):
    """Capital letters without Shift (Caps Lock), brackets with AltGr or Option, and no conflict in a plausible story. The list of keys stays open,
    and a digit without a label is asked for again."""
    keys = page.locator("details:has(.keys)")
    keys.locator("summary").click()
    focus(page, 1, 0)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    expect(keys.evaluate("list => list.open"), "the list of keys is closed by a key")
    page.keyboard.press("l")
    page.keyboard.press("9")
    expect("digit" in page.locator(".wait").inner_text(), "a digit without a label ends the question")
    page.keyboard.press("Escape")
    page.keyboard.press("C")
    expect("no conflict" in page.locator("#status").inner_text(), "it is not said that a plausible story has no conflict")
    title = page.locator("#title").inner_text()
    write_story(page)
    focus(page, 1, 0)
    for modifiers in ("ctrlKey: true, altKey: true", "altKey: true"):
        page.evaluate(f"document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {{ key: '{'[' if 'ctrl' in modifiers else ']'}', {modifiers}, bubbles: true, cancelable: true }}))")
        settled(page)
        expect((page.locator("#title").inner_text() == title) == ("ctrl" in modifiers), f"no other story by {modifiers}")
        expect(focused(page), "the grid loses the focus")


def answers(status, kind, message):
    error = {"schema_version": 1, "error": {"kind": kind, "message": message}}
    return lambda route: route.fulfill(status=status, json=error)


def check_refusals(page):
    """What is refused stays told. A full disk is told as such, and a server that hangs as one that does not answer; then the edit is sent again."""
    edits, alerts = "**/api/annotate/edit?*", page.locator("[role=alert]").first
    press = lambda *keys: [focus(page, 1, 0), *map(page.keyboard.press, keys), settled(page)]
    page.route(edits, answers(422, "data", "no such thing"))
    press("o", "2")
    press("o", "2")
    page.unroute(edits)
    press("o", "1")
    by_bob(page, {"op": "location", "text": "attic"})
    expect(alerts.locator("p").count() == 1 and "no such thing" in alerts.inner_text(), f"the refusals: {alerts.inner_text()}")
    check_axe(page, "a refusal")
    alerts.locator("button").click()
    expect(alerts.inner_text() == "", "a refusal can't be dismissed")
    page.route(edits, answers(507, "io", "No space left on device"))
    press("o", "3")
    expect("No space left" in page.locator("#unsaved").inner_text(), "a full disk is not told")
    page.locator("[data-key=trip]").click()
    expect("when your changes are saved" in page.locator("main [role=status]").first.inner_text(), "an export waits silently")
    with page.expect_download():
        page.unroute(edits)
    expect(page.locator("#unsaved").count() == 0 and page.locator("[data-key='label open']").input_value() == "3", "the edit is lost")
    page.route(edits, lambda route: None)  # no answer, until the page gives up
    press("o", "4")
    page.wait_for_selector("#unsaved", timeout=15_000)
    page.unroute(edits)
    page.wait_for_selector("#unsaved", state="detached")
    settled(page)
    expect(page.locator("[data-key='label open']").input_value() == "4", "the edit is lost")


def check_other_project(page):
    """Requests say for which project they are; when another one is served, nothing more is sent."""
    with page.expect_response(lambda answer: "annotate/project?" in answer.url) as heard, page.expect_request(lambda request: "annotate/story?" in request.url) as asked:
        page.reload()
        page.wait_for_selector(".grid")
    settled(page)
    own = heard.value.json()["project"]
    expect(f"project={own}" in asked.value.url, "it is not said which project a story is of")
    sent = []
    refuse = answers(409, "other_project", "this is another project")
    page.route("**/api/annotate/edit?*", lambda route: (sent.append(route.request.url), refuse(route)))
    for _ in range(2):
        focus(page, 1, 0)
        page.keyboard.press("o")
        page.keyboard.press("2")
        settled(page)
    expect(len(sent) == 1 and f"project={own}" in sent[0], f"sent: {sent}")
    expect("another project" in page.locator("[role=alert]").first.inner_text(), "it is not said that this is another project")


def check_names(page):
    """The form at the start takes no name that the server refuses."""
    page.evaluate("localStorage.setItem('tiered-pass', 'La seconda')")
    page.reload()
    page.wait_for_selector("#who")
    for who, own_pass in ((" ", "second"), ("Anna", " "), ("Anna", "la seconda")):
        page.fill("#who", who)
        page.fill("#pass", own_pass)
        page.keyboard.press("Enter")
        page.wait_for_selector(".narrow .wrong")
        expect(page.input_value("#pass") == own_pass, "what was typed is lost")
    check_axe(page, "a wrong name")
    page.fill("#pass", "Seconda")
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-key=new]")
    expect("pass seconda" in page.locator(".signed").inner_text(), "the name of the pass is not in small letters")


def check_disturbed(browser, arguments):
    """What another person, the server or the keyboard do while one works loses nothing."""
    with tempfile.TemporaryDirectory() as folder, server(arguments.program, [], pathlib.Path(folder) / "project") as address:
        watch = Watch(address, arguments.assets)
        watch.expected += ["409", "422", "507", "ERR_FAILED"]
        page = watch.open(browser, "light", DESK)
        page.wait_for_selector("#tabs button")
        begin(page, "Anna")
        write_story(page)
        check_drafts(page)
        check_lost_drafts(page)
        check_cell_gone(page)
        check_keys(page)
        check_refusals(page)
        check_names(page)
        check_other_project(page)
        page.close()
        watch.check()


class Keys:
    """Presses keys on a page, and counts them."""

    def __init__(self, page):
        self.page, self.pressed = page, 0

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)
            self.pressed += 1
        settled(self.page)

    def go(self, column, row):
        at = focused(self.page)
        self.press(*["ArrowRight" if column > at[0] else "ArrowLeft"] * abs(column - at[0]))
        self.press(*["ArrowDown" if row > at[1] else "ArrowUp"] * abs(row - at[1]))


DEFAULTS = {"conscious": 2, "exist": 2, "functional": 2, "moveable": 2}


def annotated(states, name):
    """The labels of an entity in a sentence of a story file that are neither 0 nor the default; None if all are 0."""
    labels = {attribute: {other.strip(): label for other, label in given}.get(name, 0) for attribute, given in states.items()}
    nontrivial = {attribute: label for attribute, label in labels.items() if label not in (0, DEFAULTS.get(attribute, 0))}
    return nontrivial if any(labels.values()) else None


def annotate_cell(keys, wanted, letters, default):
    """Gives the cell with the focus its labels: with its proposals where that takes fewer keys, else without."""
    offered = keys.page.evaluate("""() => Object.fromEntries([...document.querySelectorAll('.attributes li')].filter(line => line.querySelector('button'))
        .map(line => [line.querySelector('select').dataset.key.slice(6), Number(line.querySelector('button').dataset.label)]))""")
    proposed = {attribute: label for attribute, label in offered.items() if label != DEFAULTS.get(attribute, 0)}
    wrong = [(attribute, wanted.get(attribute, DEFAULTS.get(attribute, 0))) for attribute in {*wanted, *proposed} if wanted.get(attribute) != proposed.get(attribute)]
    by_itself = list(wanted.items()) or [(default, 2)]
    accept = offered and 2 * len(wrong) + 1 < 2 * len(by_itself)
    for attribute, label in wrong if accept else by_itself:
        keys.press(letters[attribute], str(label))
    if accept:
        keys.press("Enter")


def count_keys(browser, arguments):
    """Annotates a story of a file from nothing, by keys only, and compares the result with the file."""
    story = next(iter(json.loads(arguments.count.read_text()).values()))[arguments.story]
    names = list(dict.fromkeys(name.strip() for states in story["states"] for given in states.values() for name, _ in given))
    humans = {name.strip() for states in story["states"] for name, _ in states.get("conscious", [])}
    with tempfile.TemporaryDirectory() as folder, server(arguments.program, [arguments.run] if arguments.run else [], pathlib.Path(folder) / "project") as address:
        page = Watch(address, arguments.assets).open(browser, "light", DESK)
        page.wait_for_selector("#tabs button")
        begin(page, "Anna")
        page.locator("[data-key=new]").click()
        page.fill("#new-story", "\n".join(story["sentences"]))
        page.locator("form button").first.click()
        page.wait_for_selector("#new-entity")
        for name in names:
            page.fill("#new-entity", name)
            page.locator("[data-key=new-person]").set_checked(name in humans)
            page.keyboard.press("Enter")
            settled(page)
        page.wait_for_selector(".grid")
        settled(page)
        focus(page, 0, 0)
        keys, cells = Keys(page), [(row, column) for row in range(len(story["sentences"])) for column in range(len(names))]
        letters = page.evaluate("() => import('/annotate-words.js').then(words => words.KEYS)")
        for row, column in cells:
            wanted = annotated(story["states"][row], names[column])
            if wanted is not None:
                keys.go(column, row)
                annotate_cell(keys, wanted, letters, "conscious" if names[column] in humans else "exist")
        with page.expect_download() as download:
            page.locator("[data-key=trip]").click()
        made = next(iter(next(iter(json.loads(pathlib.Path(download.value.path()).read_text()).values())).values()))
        different = [(names[column], row) for row, column in cells
                     if annotated(made["states"][row], names[column]) != annotated(story["states"][row], names[column])]
        expect(not different, f"other labels than in the file: {different}")
    by_hand = 20 * len(cells)
    expect(keys.pressed < by_hand, f"{keys.pressed} keys, and {by_hand} by hand")
    labels = sum(len(annotated(story["states"][row], names[column]) or ()) for row, column in cells)
    return (f"story {arguments.story}: {len(story['sentences'])} sentences, {len(names)} entities, {labels} nontrivial labels: {keys.pressed} keys on the page, "
            f"{by_hand} labels by hand (20 for each entity and sentence)")


def check(browser, arguments):
    if arguments.count:
        return count_keys(browser, arguments)
    check_restart(browser, arguments)
    check_disturbed(browser, arguments)
    for scheme, size in VIEWS:
        annotate(browser, arguments, scheme, size)
    return f"checked: Annotate {'with' if arguments.run else 'without'} a run; desktop and phone, light and dark"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_arguments(parser)
    parser.add_argument("run", type=pathlib.Path, nargs="?")
    parser.add_argument("--count", type=pathlib.Path, metavar="FILE", help="instead annotate a story of this file and count the keys")
    parser.add_argument("--story", default="0", metavar="ID", help="the story to count for")
    run(check, parser.parse_args())


if __name__ == "__main__":
    main()
