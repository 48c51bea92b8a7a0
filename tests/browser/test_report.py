"""report.html as a reviewer sees it: in a real browser, from a mail attachment, on a phone."""

import json
import subprocess
import sys

import pytest

from scripts.comparison.report import parts
from tests.fio_output import job, output
from tests.place import REPOSITORY

pytestmark = pytest.mark.browser
EVIL = "</script><script>window.broken = 1</script><img src=https://example.org/x.png onerror='window.broken = 2'>"
SVG = b"""<svg xmlns='http://www.w3.org/2000/svg' width='900' height='300'><rect width='900' height='300' fill='#0072b2'/>
<script>window.broken = 3</script></svg>"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """An imported campaign with many cells, a failed run, pictures, and names that try to break out."""
    root = tmp_path_factory.mktemp("report")
    for variant, factor in (("old", 1.0), ("new", 1.2)):
        for boot in range(1, 5):
            for depth in (1, 8, 32):
                path = root / "in" / variant / f"boot{boot}-qd{depth}.json"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(output(job(iops=1000.0 * factor * depth + boot, options={"iodepth": str(depth)})))
    (root / "in" / "old" / "boot5-qd1.json").write_bytes(output({**job(), "error": 5}))
    directory = root / "results" / "evil"
    directory.mkdir(parents=True)
    settings = {
        "title": f"a title {EVIL}",
        "question": EVIL,
        "baseline": "old",
        "tables": {"t": {"layout": "benchstat"}},
    }
    mapping = {"path": r"(?P<variant>\w+)/boot(?P<boot>\d+)"}
    wanted = {"format": 1, "input": str(root / "in"), "mapping": mapping, "settings": settings}
    (directory / "input.json").write_text(json.dumps(wanted))
    plots = directory / "plots"
    plots.mkdir()
    (plots / "facet.svg").write_bytes(SVG)
    index = [
        {"name": "facet", "title": EVIL, "caption": EVIL, "kind": "facet", "why_not": None},
        {"name": "bw", "title": "Bandwidth", "caption": "", "kind": "bandwidth", "why_not": "no logs"},
    ]
    (plots / "index.json").write_text(json.dumps(index))
    (root / "campaign.yaml").write_text(f"title: {EVIL}\n")
    for stage in (["scripts.import_results"], ["scripts.compare"], ["scripts.report", "--command", EVIL,
                  "--campaign-file", str(root / "campaign.yaml")]):  # fmt: skip
        command = [sys.executable, "-m", stage[0], "--results", str(directory), *stage[1:]]
        subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
    return directory


def test_it_is_quiet_and_asks_for_nothing(browser, results):
    took_s = browser.open(results / "report.html")
    assert browser.complaints() == []
    assert browser.requests() == []
    assert browser.evaluate("window.broken") is None
    assert browser.evaluate("document.querySelector('h1').textContent").startswith("a title </script>")
    assert browser.evaluate("Array.from(document.images).every((i) => i.complete && i.naturalWidth > 0)")
    assert took_s < 10
    assert (results / "report.html").stat().st_size < 3_000_000


def test_every_part_is_there(browser, results):
    browser.open(results / "report.html")
    text = browser.evaluate("document.body.innerText")
    for wanted in ("Verdicts", "new vs old: IOPS +2", "Pictures", "no logs", "Clock", "Checklist", "commit", "runs.parquet",
                   "ended with error 5"):  # fmt: skip
        assert wanted in text, wanted
    links = browser.evaluate("Array.from(document.querySelectorAll('nav a')).map((a) => a.hash)")
    assert all(browser.evaluate(f"!!document.querySelector({json.dumps(link)})") for link in links) and len(links) == 7


FIRST_COLUMN = "Array.from(document.querySelector('table.data').tBodies[0].rows).filter((r) => !r.hidden)"


def column(browser, heading):
    place = browser.evaluate(
        "Array.from(document.querySelector('table.data').tHead.rows).at(-1).innerText.split('\\t')"
        f".findIndex((name) => name.trim().startsWith({json.dumps(heading)}))"
    )
    assert place >= 0
    return place, lambda: browser.evaluate(f"{FIRST_COLUMN}.map((row) => row.cells[{place}].textContent)")


def click(browser, place):
    browser.evaluate(
        f"Array.from(document.querySelector('table.data').tHead.rows).at(-1).cells[{place}].querySelector('button').click()"
    )


def test_tables_are_sorted_by_a_click(browser, results):
    browser.open(results / "report.html")
    place, values = column(browser, "IOPS")
    before = values()
    click(browser, place)

    def number(text):
        return float(text.rstrip("kM")) * {"k": 1e3, "M": 1e6}.get(text[-1], 1)

    assert [number(v) for v in values()] == sorted(number(v) for v in before)
    click(browser, place)
    assert [number(v) for v in values()] == sorted((number(v) for v in before), reverse=True)
    sorts = browser.evaluate("Array.from(document.querySelectorAll('table.data th[aria-sort]')).map((t) => t.ariaSort)")
    assert sorts.count("descending") == 1 and sorts.count("ascending") == 0


def test_tables_are_filtered_by_words(browser, results):
    browser.open(results / "report.html")
    _, values = column(browser, "cell")
    assert len(values()) == 6
    browser.evaluate(
        "(() => { const box = document.querySelector('.filter input'); box.value = 'iodepth=32 NEW';"
        "box.dispatchEvent(new Event('input')); })()"
    )
    assert values() == ["iodepth=32"]


def test_a_phone_scrolls_only_tables_sideways(browser, results):
    browser.open(results / "report.html", width=375, height=700)
    assert browser.evaluate("document.documentElement.scrollWidth") <= 375
    assert browser.evaluate("Array.from(document.querySelectorAll('.wide')).some((w) => w.scrollWidth > w.clientWidth)")
    widths = browser.evaluate("Array.from(document.querySelectorAll('figure img')).map((i) => i.clientWidth)")
    assert widths and min(widths) > 600  # readable, and pushed sideways with a finger
    assert browser.complaints() == []


def test_it_can_be_printed_and_read_without_scripts(browser, results):
    browser.open(results / "report.html")
    assert len(browser.ask("Page.printToPDF")["data"]) > 10_000
    browser.ask("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(results / "report.html")
        text = json.dumps(browser.ask("DOMSnapshot.captureSnapshot", computedStyles=[])["strings"])
        assert "iodepth=32" in text
    finally:
        browser.ask("Emulation.setScriptExecutionDisabled", value=False)


def test_text_is_escaped_everywhere():
    for made in (parts.text, parts.code, lambda t: parts.items([t]), lambda t: parts.facts([(t, t)]), parts.link,
                 lambda t: parts.image(b"", t, t), lambda t: parts.section(t, t, "")):  # fmt: skip
        assert "<script>" not in made(EVIL) and "onerror='" not in made(EVIL)
