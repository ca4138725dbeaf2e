"""A headless Chromium, driven through its DevTools protocol over a pipe: no driver and no network."""
import base64
import json
import os
import shutil
import subprocess
import tempfile


def find_chromium():
    names = [os.environ.get("HEADSCOPE_CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome"]
    return next((path for path in map(shutil.which, filter(None, names)) if path), None)


class Browser:
    """One page. Keeps what it asks for (`requests`) and its complaints (`complaints`)."""

    def __init__(self, chromium):
        to_read, self._to_browser = os.pipe()
        self._from_browser, to_write = os.pipe()
        self._profile = tempfile.mkdtemp()
        # The protocol's pipes are the file descriptors 3 and 4.
        words = [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
                 "--force-color-profile=srgb", "--hide-scrollbars", "--remote-debugging-pipe",
                 "--user-data-dir=" + self._profile, "about:blank"]
        self._process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{to_read} 4>&{to_write}', "sh", *words], pass_fds=(to_read, to_write),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self._input = os.fdopen(self._from_browser, "rb")
        self._rest = b""
        self._number = 0
        self._session = None
        self.requests = []
        self.complaints = []
        page = next(one for one in self.send("Target.getTargets")["targetInfos"] if one["type"] == "page")
        attached = self.send("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(domain + ".enable")

    def close(self):
        self.send("Browser.close", everywhere=True)
        self._process.wait(timeout=30)
        shutil.rmtree(self._profile, ignore_errors=True)

    def _receive(self):
        while b"\0" not in self._rest:
            more = os.read(self._from_browser, 1 << 20)
            if not more:
                raise RuntimeError("the browser has ended")
            self._rest += more
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def _note(self, message):
        method, what = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(what["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = what["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
            self.complaints.append(what["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning", "assert"):
            self.complaints.append(str(what["args"]))

    def send(self, method, everywhere=False, **params):
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session and not everywhere:
            message["sessionId"] = self._session
        os.write(self._to_browser, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._note(answer)

    def wait_for(self, method):
        while True:
            message = self._receive()
            self._note(message)
            if message.get("method") == method:
                return

    def open(self, path, width=1280, height=900, dark=False):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.send("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.send("Page.navigate", url="file://" + os.path.abspath(path))
        self.wait_for("Page.loadEventFired")
        self.settle()

    def run(self, script):
        """The value of an expression of JavaScript; waits for a promise."""
        result = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"].get("description", script))
        return result["result"].get("value")

    def settle(self):
        """Waits until the page has been drawn again."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))).then(() => 0)")

    def point(self, selector, kind="mouseMoved", **more):
        x, y = self.run(f"""(() => {{
            const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)
        self.settle()

    def click(self, selector, times=1):
        self.point(selector)
        for count in range(1, times + 1):
            self.point(selector, "mousePressed", button="left", clickCount=count)
            self.point(selector, "mouseReleased", button="left", clickCount=count)

    def press(self, key, shift=False):
        code = {"Enter": 13, "Escape": 27, "Tab": 9, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38,
                "ArrowRight": 39, "ArrowDown": 40}[key]
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code,
                      modifiers=8 if shift else 0, **(text if kind == "keyDown" else {}))
        self.settle()

    def picture(self, path=None):
        """A picture of the window in PNG."""
        image = base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"])
        if path:
            with open(path, "wb") as file:
                file.write(image)
        return image
