"""What scripts/check-app.py and scripts/check-annotate.py share, and scripts/check-page.py in part: a `tiered app` to open, a browser, and what every page must fulfil."""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
from urllib.parse import urlsplit

PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
VIEWS = [("light", DESK), ("dark", DESK), ("light", PHONE), ("dark", PHONE)]
LIMIT = 600  # seconds for all checks of a script
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}


def skip(why):
    print(f"skipped: {why} (scripts/get-readers.sh)")
    sys.exit(3)


def expect(is_so, what):
    if not is_so:
        raise AssertionError(what)


@contextlib.contextmanager
def server(program, runs, project=None, port=0):
    """The address that a server prints; the server is killed with the block."""
    of_project = ["--project", str(project)] if project else []
    command = [str(program), "app", *map(str, runs), *of_project, "--port", str(port), "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


class Watch:
    """What pages say on the console, and what they ask for."""

    def __init__(self, address, assets):
        self.address, self.assets = address, assets
        self.host, self.token = address.split("/#token=")
        self.troubles, self.requests, self.expected = [], [], []

    def open(self, browser, scheme, size, address=None, context=None):
        """A page of its own context, or one more of a context that was given."""
        view = {"viewport": size, "color_scheme": scheme, "device_scale_factor": 1.5 if size is PHONE else 1, "locale": "en-GB"}
        page = context.new_page() if context else browser.new_page(**view)
        page.set_default_timeout(20_000)
        page.on("console", lambda message: self.troubles.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.troubles.append(str(error)))
        page.on("dialog", lambda dialog: (self.troubles.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: self.requests.append(request.url))
        if self.assets:
            page.route("**/*", self.from_folder)
        page.goto(address or self.address)
        return page

    def from_folder(self, route):
        name = urlsplit(route.request.url).path.lstrip("/") or "index.html"
        file = self.assets / name
        if name.startswith("api/") or not file.is_file():
            return route.continue_()
        return route.fulfill(body=file.read_text(), content_type=TYPES[file.suffix], headers={"content-security-policy": POLICY})

    def check(self):
        unexpected = [text for text in self.troubles if not any(part in text for part in self.expected)]
        expect(not unexpected, f"the console says: {unexpected}")
        outside = [url for url in self.requests if not url.startswith((self.host + "/", "data:,"))]
        expect(not outside, f"asked for {outside}")
        leaked = [url for url in self.requests if self.token in url.split("#")[0]]
        expect(not leaked, f"the token is in an address that is asked for: {leaked}")


def check_axe(page, where):
    try:
        import axe_playwright_python
    except ImportError:
        skip("axe_playwright_python is not installed")
    page.evaluate((pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text())
    found = page.evaluate("() => axe.run()")["violations"]
    expect(not found, [f"{where}: {v['id']}: {v['help']}: {v['nodes'][0]['target']}" for v in found])


def check_width(page, where):
    sticks_out = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    expect(sticks_out <= 0, f"{where}: {sticks_out} pixels stick out")


def too_long(_signal, _frame):
    raise AssertionError(f"the checks take longer than {LIMIT} seconds")


def run(check, arguments):
    """Opens a browser for a check, and ends the program with the outcome."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        skip("playwright is not installed")
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(LIMIT)
    if arguments.screenshots:
        arguments.screenshots.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        try:
            executable = os.environ.get("CHROMIUM") or shutil.which("chromium")
            browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox", "--disable-gpu"])
        except Error as error:
            skip(f"Chromium can't be started: {str(error).splitlines()[0]}")
        try:
            print(check(browser, arguments))
        except (AssertionError, Error) as error:
            print(f"error: {error}", file=sys.stderr)
            sys.exit(1)
        finally:
            browser.close()


def add_arguments(parser):
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--screenshots", type=pathlib.Path, metavar="FOLDER", help="save pictures there")
    parser.add_argument("--assets", type=pathlib.Path, metavar="FOLDER",
                        help="take the files of the page from there (templates/app) instead of the program, while one works on them")
