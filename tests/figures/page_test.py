#!/usr/bin/env python3
"""The page of all heads in a browser: headscope attention --page.
usage: page_test.py HEADSCOPE-PROGRAM
Ends with 77, which ctest takes for a skipped test, where there is no Chromium."""
import html
import json
import os
import subprocess
import sys
import tempfile
import time

from browser import Browser, find_chromium

REPOSITORY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
TEXT = "The cat sleeps because it is tired."
failures = []


def expect(what, holds, found=""):
    if not holds:
        failures.append(what)
        print(f"FAILED: {what} {found}")


def headscope(program, *words):
    # Without a device of its own a test runs on the CPU, as the others.
    environment = {**os.environ, "HEADSCOPE_DEVICE": "cpu"}
    return subprocess.run([program, "attention", *words], check=True, capture_output=True, env=environment).stdout


def model(name):
    return ["--model", os.path.join(REPOSITORY, "assets", "models", name)]


PICTURE = "document.querySelector('#lines').toDataURL()"
ON = "[...document.querySelectorAll('#swatches [aria-pressed=true]')].map(swatch => swatch.textContent).join()"
SAID = "document.querySelector('#said').textContent"
# What has moved although nobody has clicked or typed, as names of parts.
SHIFTS = """new Promise(done => {
    const moved = list => list.getEntries().filter(entry => !entry.hadRecentInput)
        .map(entry => entry.sources.map(source => source.node?.id || source.node?.nodeName));
    new PerformanceObserver(list => done(moved(list))).observe({ type: 'layout-shift', buffered: true });
    setTimeout(() => done([]), 300);
})"""
# The smallest contrast of a text with what is behind it, and the text.
CONTRAST = """(() => {
    const channels = colour => colour.match(/[\\d.]+/g).map(Number);
    const linear = c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
    const behind = element => {
        const colour = channels(getComputedStyle(element).backgroundColor);
        return colour.length === 4 && colour[3] === 0 ? behind(element.parentElement) : colour;
    };
    let worst = [21, ''];
    for (const element of document.querySelectorAll('body *')) {
        const own = [...element.childNodes].filter(node => node.nodeType === 3).map(node => node.data.trim()).join('');
        if (own && element.checkVisibility() && !['SCRIPT', 'OPTION'].includes(element.tagName)) {
            const both = [light(channels(getComputedStyle(element).color)), light(behind(element))];
            const contrast = (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
            if (contrast < worst[0]) { worst = [contrast, own]; }
        }
    }
    return worst;
})()"""
# What is wider than its place.
WIDE = """[document.documentElement, ...document.querySelectorAll('[role=tabpanel]')]
    .filter(element => element.scrollWidth > element.clientWidth).map(element => element.id || element.tagName)"""
UNNAMED = """[...document.querySelectorAll('button, select, input, [role=tabpanel], fieldset')].filter(element =>
    !(element.textContent.trim() || element.ariaLabel || element.labels?.[0]?.textContent.trim() ||
      element.hasAttribute('aria-labelledby'))).length"""


def check_quiet(browser, what):
    outside = [url for url in browser.requests if not url.startswith(("file:", "about:"))]
    expect(f"{what} asks nobody", outside == [] and len(browser.requests) == 1, browser.requests)
    expect(f"{what} has no complaints", browser.complaints == [], browser.complaints)
    browser.requests.clear()
    browser.complaints.clear()


def check_heads(browser):
    """Switching heads: with the mouse and the keyboard."""
    all_heads = "1,2,3,4,5,6,7,8"
    before = browser.run(PICTURE)
    expect("all heads are on at first", browser.run(ON) == all_heads)
    browser.click("#swatches button:nth-child(3)")
    expect("a click switches a head off", browser.run(ON) == "1,2,4,5,6,7,8", browser.run(ON))
    expect("and changes the picture", browser.run(PICTURE) != before)
    browser.click("#swatches button:nth-child(3)")
    expect("another click brings it back", browser.run(ON) == all_heads and browser.run(PICTURE) == before)
    browser.click("#swatches button:nth-child(2)", times=2)
    expect("a double click leaves one head", browser.run(ON) == "2", browser.run(ON))
    browser.click("#swatches button:nth-child(2)", times=2)
    expect("and another one shows all", browser.run(ON) == all_heads, browser.run(ON))
    browser.run("document.querySelector('#swatches button').focus()")
    browser.press("ArrowRight")
    browser.press("Enter", shift=True)
    expect("Shift and Enter leave one head", browser.run(ON) == "2", browser.run(ON))
    browser.press("Enter", shift=True)
    expect("and show all", browser.run(ON) == all_heads)
    browser.press("Enter")
    expect("Enter switches a head off", browser.run(ON) == "1,3,4,5,6,7,8")
    browser.press("Enter")


def check_tokens(browser, record):
    """Pointing at tokens and keeping them; what is said is what the record has."""
    browser.click("#items label:nth-child(2)")
    pieces = browser.run("[...document.querySelectorAll('#queries button')].map(button => button.textContent)")
    expect("pieces are those of the record",
           pieces == [token["text"].replace("\u2581", "\u00b7") for token in record["source"]], pieces)
    before = browser.run(PICTURE)
    browser.point("#queries button:nth-child(5)")
    pointed = browser.run(PICTURE)
    expect("pointing at a token leaves its lines", pointed != before)
    site = record["sites"][0]
    count = len(record["source"])
    weight, head, key = max((site["weights"][(head * count + 4) * count + key], head, key)
                            for head in range(site["heads"]) for key in range(count))
    said = f"{pieces[4]} looks at {pieces[key]} {weight:.2f} (head {head + 1})"
    expect("the strongest line is said", browser.run(SAID).startswith(said), [said, browser.run(SAID)])
    browser.click("#queries button:nth-child(5)")
    browser.point("h1")
    expect("a click keeps the lines", browser.run(PICTURE) == pointed)
    browser.press("Escape")
    browser.run("document.activeElement.blur()")
    browser.settle()
    expect("Escape releases them", browser.run(PICTURE) == before)
    browser.run("document.querySelector('#queries button').focus()")
    for _ in range(4):
        browser.press("ArrowDown")
    expect("the arrow keys go to a token and its lines", browser.run(PICTURE) == pointed)
    browser.press("ArrowRight")
    expect("and to the keys", " is seen by " in browser.run(SAID), browser.run(SAID))
    browser.run("document.activeElement.blur()")
    bare = browser.run("document.querySelectorAll('.tokens button:not(:has(bdi))').length")
    expect("each label is isolated", bare == 0, bare)
    browser.click("#items label:nth-child(1)")


def check_tabs(browser):
    browser.run("document.querySelector('#tab-heads').focus()")
    browser.press("ArrowRight")
    expect("the arrow keys open tabs", browser.run("!document.querySelector('#model').hidden"))
    expect("the model view has every head", browser.run("document.querySelectorAll('#model canvas').length") == 48)
    # A canvas that nobody has painted has its own width.
    blank = "[...document.querySelectorAll('#model canvas')].filter(canvas => canvas.width === 300).length"
    for _ in range(200):
        if browser.run(blank) == 0:
            break
        time.sleep(0.05)
    expect("each is drawn", browser.run(blank) == 0)
    browser.click("#model [data-layer='3'][data-head='5']")
    expect("a click opens the head", browser.run(ON) == "6" and "layer 4" in browser.run(SAID), browser.run(SAID))
    layer = browser.run("document.querySelector('#layers :checked').parentElement.textContent")
    expect("and its layer is chosen", layer == "4", layer)
    browser.click("#tab-neurons")
    weights = "[...document.querySelectorAll('#neurons td.bar:not(.used) span')].map(span => Number(span.textContent))"
    for kind in (1, 2, 3):
        browser.click(f"#kinds label:nth-child({kind})")
        expect("a softmax adds up to 1", abs(sum(browser.run(weights)) - 1) < 0.05, browser.run(weights))
        expect("and is what the model used", not browser.run("document.querySelector('table').matches('.uses-other')"))
    before = browser.run(weights)
    browser.click("#query button:last-child")
    expect("another query has another softmax", browser.run(weights) != before)
    browser.click("#kinds label:nth-child(1)")
    browser.click("#tab-heads")


def check_look(browser, path):
    for width in (390, 1280):
        for dark in (False, True):
            browser.open(path, width=width, dark=dark)
            for tab in ("heads", "model", "neurons"):
                where = f"{tab} at {width} pixels, {'dark' if dark else 'light'}"
                browser.click(f"#tab-{tab}")
                wide = browser.run(WIDE)
                expect(f"{where}: nothing is beside the window", wide == [], wide)
                contrast, text = browser.run(CONTRAST)
                expect(f"{where}: text can be read", contrast >= 4.5, [contrast, text])
                expect(f"{where}: everything has a name", browser.run(UNNAMED) == 0)
            browser.click("#tab-heads")
            browser.point("#queries button:nth-child(2)")
            browser.point("#keys button:nth-child(3)")
            shifts = browser.run(SHIFTS)
            expect(f"{width} pixels: pointing moves nothing", shifts == [], shifts)
    paper = browser.run("getComputedStyle(document.body).backgroundColor")
    browser.click("#theme")
    expect("the theme can be switched", browser.run("getComputedStyle(document.body).backgroundColor") != paper)


def check_policy(browser, path, folder):
    browser.open(path)
    browser.run("fetch('http://127.0.0.1:9/').catch(() => 0)")
    browser.run("""new Promise(done => {
        const image = new Image();
        image.onerror = () => done(0);
        image.src = 'http://127.0.0.1:9/';
    })""")
    expect("the policy forbids requests", sum("Content Security Policy" in one for one in browser.complaints) >= 2,
           browser.complaints)
    browser.requests.clear()
    browser.complaints.clear()
    framed = os.path.join(folder, "framed.html")
    with open(path, encoding="utf-8") as page, open(framed, "w", encoding="utf-8") as file:
        file.write('<iframe sandbox="allow-scripts" width="900" height="600" srcdoc="')
        file.write(html.escape(page.read()) + '"></iframe>')
    browser.open(framed)
    picture = browser.picture()
    expect("a frame without a place of its own shows the page", len(picture) > 20_000, len(picture))
    expect("and has no complaints", browser.complaints == [], browser.complaints)
    browser.requests.clear()


def check_long(browser, program, folder):
    path = os.path.join(folder, "long.html")
    text = " ".join(["The cat sleeps because it is tired, and the dog sees a house near the river."] * 24)
    headscope(program, *model("en-de"), "--text", text, "--target", "Die Katze.", "--page", "-o", path)
    expect("a page of a long text is less than 20 MB", os.path.getsize(path) < 20_000_000, os.path.getsize(path))
    begin = time.monotonic()
    browser.open(path)
    browser.click("#items label:nth-child(2)")
    expect("it opens in time", time.monotonic() - begin < 15, time.monotonic() - begin)
    count = browser.run("document.querySelectorAll('#queries button').length")
    expect("it has 500 tokens", 470 <= count <= 512, count)
    notes = browser.run("document.querySelector('#notes').textContent")
    expect("it says what it rounds", "rounded: by at most 0.004" in notes, notes)
    top = browser.run(PICTURE)
    begin = time.monotonic()
    for place in range(10):
        browser.run(f"document.querySelector('#heads').scrollTop = {1000 * (place + 1)}")
        browser.settle()
    expect("it scrolls in time", time.monotonic() - begin < 10, time.monotonic() - begin)
    expect("lines follow what is on screen", browser.run(PICTURE) != top)
    height = browser.run("document.querySelector('#lines').clientHeight")
    expect("only what is on screen is drawn", 0 < height < 1000, height)
    browser.run("document.querySelectorAll('#queries button')[440].focus()")
    browser.settle()
    drawn = "document.querySelector('#lines').getContext('2d').getImageData(0, 0, 200, 200).data.some(Boolean)"
    expect("the lines of a token far below are drawn", browser.run(drawn))
    browser.click("#tab-model")
    check_quiet(browser, "a long page")


def main():
    chromium = find_chromium()
    if chromium is None:
        print("skipped: no Chromium")
        sys.exit(77)
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "heads.html")
        headscope(program, *model("en-de"), "--text", TEXT, "--page", "-o", path)
        record = json.loads(headscope(program, *model("en-de"), "--text", TEXT, "--all-heads", "--json"))
        browser = Browser(chromium)
        try:
            browser.open(path)
            check_heads(browser)
            check_tokens(browser, record)
            check_tabs(browser)
            check_quiet(browser, "a page")
            check_look(browser, path)
            browser.requests.clear()
            check_policy(browser, path, folder)
            for name in ("en-causal", "en-masked"):
                headscope(program, *model(name), "--text", TEXT, "--page", "-o", path)
                browser.open(path)
                browser.click("#tab-neurons")
                expect(f"{name}: the softmax is what the model used",
                       browser.run("!document.querySelector('table').matches('.uses-other')"))
                check_quiet(browser, name)
            check_long(browser, program, folder)
        finally:
            browser.close()
    if failures:
        sys.exit(1)
    print("the page of all heads works in " + os.path.basename(chromium))


if __name__ == "__main__":
    main()
