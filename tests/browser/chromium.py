"""Headless Chromium, driven through its debugging pipe; no package is needed for that."""

import contextlib
import itertools
import json
import os
import select
import shutil
import subprocess
import sys
import time

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-pipe",
           "--disable-background-networking", "--disable-component-update", "--disable-sync", "--mute-audio",
           "--disable-dev-shm-usage", "--allow-file-access-from-files=false")  # fmt: skip


class Page:
    """One page: what it logs, what it asks for, and what JavaScript says about it."""

    def __init__(self, profile):
        program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
        assert program, "no Chromium: scripts/setup.sh dev installs it"
        (theirs_in, self.out), (self.into, theirs_out) = os.pipe(), os.pipe()
        command = [program, *OPTIONS, f"--user-data-dir={profile}", "about:blank"]
        # Chromium reads its pipe from descriptor 3 and writes to 4
        become = "import fcntl, os, sys; a, b = (fcntl.fcntl(int(n), fcntl.F_DUPFD, 10) for n in sys.argv[1:3])\n"
        become += "os.dup2(a, 3); os.dup2(b, 4); os.execv(sys.argv[3], sys.argv[3:])"
        self.process = subprocess.Popen(
            [sys.executable, "-S", "-c", become, str(theirs_in), str(theirs_out), *command],
            pass_fds=[theirs_in, theirs_out],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.buffer, self.events, self.numbers, self.session = b"", [], itertools.count(1), None
        target = self.ask("Target.getTargets")["targetInfos"]
        page = next(info for info in target if info["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def receive(self, timeout_s):
        while b"\0" not in self.buffer:
            assert select.select([self.into], [], [], timeout_s)[0], "Chromium does not answer"
            data = os.read(self.into, 1 << 20)
            assert data, "Chromium ended"
            self.buffer += data
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def ask(self, method, **params):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            found = self.receive(60)
            if found.get("id") == number:
                assert "error" not in found, found
                return found["result"]
            self.events.append(found)

    def open(self, path, width=1280, height=900):
        """Load a file; seconds until it had loaded."""
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.events.clear()
        start = time.monotonic()
        self.ask("Page.navigate", url=f"file://{path}")
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive(60))
        return time.monotonic() - start

    def evaluate(self, expression):
        result = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def complaints(self):
        """Everything on the console, and every exception."""
        self.evaluate("1")
        wanted = ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")
        return [event for event in self.events if event.get("method") in wanted]

    def requests(self):
        """Addresses that the page asked for, without data: and itself."""
        self.evaluate("1")
        urls = [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return [url for url in urls if not url.startswith(("data:", "blob:"))][1:]

    def close(self):
        with contextlib.suppress(OSError, AssertionError):
            self.ask("Browser.close")
        self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.into)
