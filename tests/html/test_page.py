#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# test_page: the pages of `clweave report` and `clweave gallery` in a real browser
#   test_page.py CLWEAVE REPOSITORY FOLDER [unittest's arguments]    FOLDER gets the pages and their pictures
# Ends with 77 where the browser or a package is missing, unless CI is set.
import base64
import concurrent.futures
import csv
import glob
import hashlib
import json
import mmap
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest
import zipfile

try:
    import jsonschema
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright
    import altair
except ImportError as error:
    print(f"left out: {error} (scripts/setup installs it)")
    sys.exit(1 if os.environ.get("CI") else 77)

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if CHROMIUM is None:
    print("left out: there is no Chromium (scripts/setup installs it)")
    sys.exit(1 if os.environ.get("CI") else 77)

CLWEAVE, ROOT, FOLDER = sys.argv[1:4]
QUICK = os.path.join(FOLDER, "quick.csv")
os.makedirs(FOLDER, exist_ok=True)
with zipfile.ZipFile(os.path.join(ROOT, "results/nvidia-h200/quick.zip")) as archive:
    archive.extract("quick.csv", FOLDER)
HOSTILE = """<script>window.hacked = 1</script>"'</script><img src=x onerror="window.hacked = 1">"""
VEGA = "3425bd951a44d478d0505c6b5d1e8d57656b6e9a4da7bfe88a718ce61d76e572"


WAIT_S = 60  # Chromium draws all charts of a page in a tenth of it, where it has a core
CPU_S = 300  # of a report: not of the clock, as other programs may have most of a computer


def is_instrumented(program):
    with open(program, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        return text.find(b"__asan_init") >= 0 or text.find(b"__tsan_init") >= 0


def report(name, *arguments):
    path = os.path.join(FOLDER, name)
    begun = time.monotonic()
    program = subprocess.Popen([CLWEAVE, "report", *arguments, "-o", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    resource.prlimit(program.pid, resource.RLIMIT_CPU, (CPU_S, CPU_S))
    said = program.communicate()[1]
    assert program.returncode != -signal.SIGKILL, f"{name}: not made in {CPU_S} s of a core"
    assert program.returncode == 0, f"{name}: exit code {program.returncode}: {said}"
    print(f"{name}: made in {time.monotonic() - begun:.1f} s, {os.path.getsize(path)} bytes", flush=True)
    return path


def data_of(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S).group(1)), text


def charts_of(page):
    return [part for section in page["sections"] for part in section["parts"] if part["kind"] == "chart"]


def rewritten(name, change):
    """The quick file with each row changed by a function that gives a list of rows."""
    path = os.path.join(FOLDER, name)
    with open(QUICK, newline="") as source, open(path, "w", newline="") as out:
        rows = csv.DictReader(source)
        writer = csv.DictWriter(out, rows.fieldnames, lineterminator="\n")
        writer.writeheader()
        count, footer = 0, None
        for row in rows:
            if row["schema"].startswith("#"):
                footer = row
                continue
            for one in change(row):
                writer.writerow(one)
                count += 1
        footer["run_id"] = count
        writer.writerow(footer)
    return path


def slowed(row, factor):
    """A row of a measurement that took longer."""
    out = dict(row)
    for column in ("time_s", "time_low_s", "time_high_s", "gb_per_s", "gflop_per_s", "gitems_per_s"):
        if row[column]:
            out[column] = str(float(row[column]) * (factor if column.startswith("time") else 1 / factor))
    return out


def make_all():
    """The page of all results."""
    files = glob.glob(os.path.join(ROOT, "results/*/*.zip"))
    return report("all.html", *sorted(file for file in files if os.path.basename(file) not in ("search.zip", "tune.zip", "claims-again.zip")))


def make_quick():
    return report("quick.html", QUICK)


def make_regression():
    aa = [os.path.join(ROOT, f"results/nvidia-h200/sessions-{i}.zip") for i in (1, 2)]
    return report("regression.html", aa[0], "--against", aa[1])


def make_long_names():
    return report("long-names.html", rewritten("long-names.csv", lambda row: [
        dict(row, label=f"rack 12, node 345 of the cluster, the {which} of its cards") for which in ("first", "last")]))


def make_hostile():
    def change(row):
        return [dict(row, device=HOSTILE, driver=HOSTILE, reason=HOSTILE if row["status"] != "ok" else row["reason"])]
    folder = os.path.join(FOLDER, "<img src=x onerror=window.hacked=1>")
    os.makedirs(folder, exist_ok=True)
    return report("hostile.html", shutil.copy(rewritten("hostile.csv", change), os.path.join(folder, '"hostile&lt;.csv')))


# Rows of a page of many; fewer where the program is instrumented.
MANY = 20000 if is_instrumented(CLWEAVE) else 100000


def make_devices():
    """Many rows of many devices and runs."""
    with open(QUICK, newline="") as file:
        count = sum(1 for _ in csv.reader(file)) - 2
    # Equal times are one measurement, not two runs.
    source = rewritten("devices.csv", lambda row: [
        dict(slowed(row, 1 + i / 1e6), device=f"{row['device']} {i % 10}", driver=f"{row['driver']}.{i % 10}",
             run=str(i // 10), run_id=str(i)) for i in range(-(-MANY // count))])
    path = report("devices.html", source)
    os.remove(source)
    return path


def make_searched():
    """Many rows of one device that was searched."""
    base = {}

    def change(row):
        if row["family"] != "copy" or row["status"] != "ok" or row["finding"] or "kernel=grid_stride" not in row["case_id"] or base:
            return [row]
        base.update(row)
        out = [row]
        for i in range(MANY):
            groups = 100000 + i
            slower = 1 + i % 977 / 1000
            out.append(dict(slowed(row, slower), groups=str(groups),
                            case_id=re.sub(r"/groups=\d+", f"/groups={groups}", row["case_id"])))
        return out
    source = rewritten("searched.csv", change)
    path = report("searched.html", source)
    os.remove(source)
    return path


def make_gallery():
    """The list of a site of two devices and of one whose name is markup."""
    folder, site = os.path.join(FOLDER, "gallery"), os.path.join(FOLDER, "site")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    h200 = os.path.join(ROOT, "results/nvidia-h200/quick.zip")
    shutil.copy(h200, os.path.join(folder, "nvidia-h200.zip"))
    shutil.copy(os.path.join(ROOT, "results/xeon-2-cores-rusticl/quick.zip"), os.path.join(folder, "xeon-2-cores-rusticl.zip"))
    with zipfile.ZipFile(h200) as whole, zipfile.ZipFile(os.path.join(folder, "<img src=x onerror=window.hacked=1>.zip"), "w") as out:
        out.writestr("rows.csv", whole.read(whole.namelist()[0]).replace(b"NVIDIA H200", b"<img src=x onerror=window.hacked=1>"))
    done = subprocess.run([CLWEAVE, "gallery", folder, "-o", site], capture_output=True, text=True)
    assert done.returncode == 5 and "column device has markup" in done.stderr, done
    return os.path.join(site, "index.html")


# The one that takes longest first.
MAKERS = {"all": make_all, "searched": make_searched, "quick": make_quick, "regression": make_regression,
          "devices": make_devices, "hostile": make_hostile, "long-names": make_long_names,
          "gallery": make_gallery}


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.makedirs(FOLDER, exist_ok=True)
        # Makes two pages at once: what takes time is the program, on one core each.
        cls.pool = concurrent.futures.ThreadPoolExecutor(2)
        cls.pages = {name: cls.pool.submit(make) for name, make in MAKERS.items()}
        cls.addClassCleanup(cls.pool.shutdown, cancel_futures=True)
        concurrent.futures.wait(cls.pages.values())  # a browser beside them would be slow, and its waits have limits
        cls.path = cls.made("all")
        cls.value, cls.text = data_of(cls.path)
        cls.playwright = sync_playwright().start()
        cls.addClassCleanup(cls.playwright.stop)
        cls.browser = cls.playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        cls.addClassCleanup(cls.browser.close)

    @classmethod
    def made(cls, name):
        """The path of a page; raises what stopped its making."""
        return cls.pages[name].result()

    def setUp(self):
        begun = time.monotonic()
        self.addCleanup(lambda: print(f"{time.monotonic() - begun:.1f} s", end=" ", flush=True))

    def open(self, path, width=1280, height=900, **more):
        context = self.browser.new_context(viewport={"width": width, "height": height}, accept_downloads=True, **more)
        self.addCleanup(context.close)
        page = context.new_page()
        page.set_default_timeout(1000 * WAIT_S)
        self.errors, self.requests = [], []
        page.on("console", lambda message: self.errors.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto("file://" + path)
        return page

    def wait_for(self, page, expression):
        end = time.monotonic() + WAIT_S
        while not page.evaluate(expression):
            if time.monotonic() > end:
                self.fail(f"not within {WAIT_S} s: {expression}; the page said: {self.errors}")
            time.sleep(0.1)

    def draw_all(self, page):
        page.evaluate("document.dispatchEvent(new Event('clweave-draw-all'))")
        self.wait_for(page, "document.documentElement.dataset.drawn === 'all'")

    def check_drawn(self, page):
        self.draw_all(page)
        empty = page.evaluate("""[...document.querySelectorAll('figure')].filter((figure) => !figure.hidden &&
            figure.querySelectorAll('.mark-symbol path, .mark-rect path, .mark-line path').length === 0)
            .map((figure) => figure.dataset.chart)""")
        self.assertEqual(empty, [])
        self.assertEqual(self.errors, [])
        self.assertEqual([url for url in self.requests if not url.startswith(("file:", "blob:", "data:"))], [])

    def test_size_and_policy(self):
        self.assertLess(os.path.getsize(self.path), 6 * 2**20)
        page, text = data_of(self.path)
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1)
        self.assertNotIn("unsafe", policy)
        self.assertIn("default-src 'none'", policy)
        scripts = re.findall(r"<script>(.*?)</script>", text, re.S)
        self.assertEqual(len(scripts), 2)
        for script in scripts + re.findall(r"<style>(.*?)</style>", text, re.S):
            self.assertIn("'sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() + "'", policy)
        self.assertEqual(hashlib.sha256(scripts[0].encode()).hexdigest(), VEGA)
        self.assertIn("University of Washington Interactive Data Lab", text)
        for chart in charts_of(page):
            for panel in chart["panels"]:
                self.assertGreater(len(panel["title"].split()), 3, chart["name"])
                self.assertGreater(len(panel["rows"]), 0, chart["name"])
        names = {section["title"] for section in page["sections"] if not section.get("absent")}
        self.assertLessEqual({"Overview", "Divergence", "Access and caches", "Copy", "Grayscale", "Parallelism",
                              "Reduction, step by step", "Scan and compaction", "Roofline", "Comparison", "Claims", "Failures",
                              "Measurement"}, names)

    def test_specifications(self):
        with open(os.path.join(os.path.dirname(altair.__file__), "vegalite/v6/schema/vega-lite-schema.json")) as file:
            schema = json.load(file)
        validator = jsonschema.Draft7Validator(schema)
        seen = set()
        for chart in charts_of(data_of(self.path)[0]) + charts_of(data_of(self.made("regression"))[0]):
            spec = json.dumps(chart["spec"], sort_keys=True)
            shape = re.sub(r'("(domain|range|sort)": )\[[^]]*\]', r"\1[]", spec)
            if shape in seen:
                continue
            seen.add(shape)
            self.assertIsNone(next(validator.iter_errors(chart["spec"]), None), chart["name"])
            self.assertNotIn('"url"', spec)

    def test_every_chart_of_each_device(self):
        begun = time.monotonic()
        page = self.open(self.path)
        page.wait_for_selector("main section")
        print(f"opened after {time.monotonic() - begun:.1f} s")
        self.draw_all(page)
        print(f"all charts after {time.monotonic() - begun:.1f} s")
        self.check_drawn(page)
        page.screenshot(path=os.path.join(FOLDER, "wide.png"), full_page=True)
        page.click("#theme")
        page.screenshot(path=os.path.join(FOLDER, "dark.png"), full_page=True)
        for i in range(len(self.value["devices"])):
            page.select_option("#device", str(i))
            page.evaluate("delete document.documentElement.dataset.drawn")
            self.check_drawn(page)

    def test_without_being_asked(self):
        """All charts are drawn in idle time, whether they were ever in view or not."""
        page = self.open(self.path)
        self.wait_for(page, "[...document.querySelectorAll('figure:not([hidden])')].every((figure) => figure.querySelector('.drawing svg'))")
        self.assertEqual(page.evaluate("scrollY"), 0)
        self.assertEqual(self.errors, [])

    def test_paper(self):
        page = self.open(self.path, color_scheme="dark")
        path = os.path.join(FOLDER, "paper.pdf")
        page.pdf(path=path, prefer_css_page_size=True, tagged=True, outline=True)  # at once, before charts are drawn
        with open(path, "rb") as file:
            outline = re.findall(rb"/Title \((.*?)\)\s", file.read())
        titles = [title.replace(b"\\", b"").decode("latin-1") for title in outline]
        for section in self.value["sections"]:
            self.assertIn(section["title"], titles)
        for chart in charts_of(self.value):
            if any(panel["device"] in (None, self.value["most"]) for panel in chart["panels"]) and chart["name"].startswith("roofline"):
                self.assertIn(next(panel["title"] for panel in chart["panels"] if panel["device"] == self.value["most"]), titles)
        # The page as printed.
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print", color_scheme="dark")
        self.assertEqual(page.locator("main details:not([open]):not(.names)").count(), 0)
        self.assertGreater(page.locator("details[open] tbody tr").count(), 100)
        self.assertEqual(page.locator("nav:visible, .controls:visible, .tools:visible, .names:visible").count(), 0)
        self.assertEqual(page.evaluate("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
        page.set_viewport_size({"width": 702, "height": 1000})  # A4 within its margins
        cut = page.evaluate("""[...document.querySelectorAll('figure:not([hidden])')].filter((figure) => {
            const svg = figure.querySelector('svg').getBoundingClientRect(), all = figure.getBoundingClientRect();
            return svg.right > all.right + 1 || svg.bottom > all.bottom + 1 || svg.height > 1000;
          }).map((figure) => figure.dataset.chart)""")
        self.assertEqual(cut, [])
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        self.assertEqual(page.locator("main details[open]").count(), 0)

    def test_references(self):
        """Other programs, a copy and Little's law, each where it belongs."""
        names = {}
        for chart in charts_of(self.value):
            for panel in chart["panels"]:
                if panel["device"] is not None and "H200" in self.value["devices"][panel["device"]]:
                    names.setdefault(chart["name"], set()).update(row[0] for row in panel.get("references", []))
                else:
                    self.assertFalse([row for row in panel.get("references", []) if "cu" in row[0]], chart["name"])
        self.assertLessEqual({"cub_scan", "cudaMemcpy", "a copy's rate"}, names["scan: size"])
        self.assertLessEqual({"cub_select", "cudaMemcpy", "a copy's rate"}, names["compaction: size"])
        self.assertIn("Little's law", names["arithmetic: chains"])
        self.assertIn("Little's law", names["occupancy: bytes in flight"])

    def test_phone(self):
        for name, path in (("phone", self.path), ("long-names", self.made("long-names"))):
            with self.subTest(name):
                page = self.open(path, 390, 844, is_mobile=True, has_touch=True)
                self.check_drawn(page)
                self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), 390)
                page.screenshot(path=os.path.join(FOLDER, name + ".png"), full_page=True)

    def test_keyboard_theme_and_table(self):
        page = self.open(self.path, color_scheme="light")
        ground = "getComputedStyle(document.body).backgroundColor"
        light = page.evaluate(ground)
        page.keyboard.press("Tab")
        self.assertEqual(page.evaluate("document.activeElement.className"), "skip")
        for _ in range(8):
            if page.evaluate("document.activeElement.id") == "theme":
                break
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        self.assertEqual(page.evaluate("document.documentElement.dataset.theme"), "dark")
        self.assertNotEqual(page.evaluate(ground), light)
        figure = page.locator("figure:not([hidden])").first
        button = figure.get_by_role("button", name="Table")
        button.focus()
        page.keyboard.press("Enter")
        self.assertEqual(button.get_attribute("aria-expanded"), "true")
        self.assertGreater(figure.locator("tbody tr").count(), 1)
        with page.expect_download() as download:
            figure.get_by_role("button", name="CSV").click()
        with open(download.value.path(), newline="") as file:
            self.assertEqual(len(list(csv.reader(file))), 1 + figure.locator("tbody tr").count())
        self.assertEqual(self.errors, [])

    def test_accessible(self):
        quick = self.made("quick")  # of all devices it would take minutes
        for scheme in ("light", "dark"):
            page = self.open(quick, color_scheme=scheme)
            self.draw_all(page)
            found = Axe().run(page).response["violations"]
            serious = [(one["id"], one["nodes"][0]["html"][:200], len(one["nodes"])) for one in found if one["impact"] in ("serious", "critical")]
            self.assertEqual(serious, [], scheme)

    def test_questions_of_a_new_user(self):
        page = self.open(self.path)
        claims = page.locator("#claims")
        rows = claims.locator("tbody tr")
        all_rows = int(claims.locator(".tools [role=status]").inner_text().split()[0])  # not all are drawn at once
        # Which claims fail on a device: one click from the top.
        devices = self.value["devices"]
        for device in sorted(range(len(devices)), key=lambda i: i == self.value["most"]):
            box = page.locator("article").nth(device)
            fact = box.locator("dl > div", has_text="published claims").locator("a")
            if fact.count() == 1 and not fact.inner_text().startswith("0 "):
                break
        count = int(fact.inner_text().split()[0])
        fact.click()
        self.assertEqual(page.input_value("#device"), str(device))
        column = self.value["sections"][[s["id"] for s in self.value["sections"]].index("claims")]["parts"][1]["columns"].index(devices[device])
        ours = sum(row.startswith("clweave") for row in rows.locator("td:nth-child(2)").all_inner_texts())
        self.assertEqual(rows.count() - ours, count)
        for text in rows.locator(f"td:nth-child({column + 1})").all_inner_texts():
            self.assertTrue(text.startswith("fails"), text)
        self.wait_for(page, "document.querySelector('#claims').getBoundingClientRect().top < innerHeight")
        # And by hand.
        claims.locator("label", has_text="device").locator("select").select_option("")
        claims.locator("label", has_text="source").locator("select").select_option("000")
        self.assertGreater(rows.count(), 0)
        for text in rows.all_inner_texts():
            self.assertIn("fails", text)
            self.assertTrue(text.startswith("000-"), text)
        self.assertIn(f"{rows.count()} of {all_rows}", claims.locator(".tools [role=status]").inner_text())
        # Each fact that is known leads to a section.
        for link in page.locator("article dd a").all():
            self.assertEqual(page.locator("section" + link.get_attribute("href")).count(), 1)
        # Which cases failed on a device.
        wrong = page.locator("article", has_text="NVIDIA H200").locator("dl > div", has_text="failures").locator("a")
        wrong.click()
        self.assertEqual(set(page.locator("#failures tbody tr td:first-child").all_inner_texts()), {"NVIDIA H200"})
        # The explanation of axes names the values of the chart only.
        names = page.locator("figure[data-chart='compaction: selectivity'] .names")
        names.locator("summary").click()
        names.locator("dt").first.wait_for()
        self.assertIn("kernel", names.locator("dt").all_inner_texts())
        self.assertIn("one atomic addition per work-group", names.inner_text())
        self.assertEqual(self.errors, [])

    def test_hostile_names(self):
        path = self.made("hostile")
        text = data_of(path)[1]
        self.assertFalse("<script>window" in text or "<img src=x" in text)
        page = self.open(path)
        self.check_drawn(page)
        page.hover("figure svg")
        self.assertIsNone(page.evaluate("window.hacked ?? null"))
        self.assertIn(HOSTILE, page.inner_text("article h3"))
        self.assertEqual(page.locator("img").count(), 0)

    def test_gallery(self):
        for scheme, width in (("light", 1280), ("dark", 390)):
            with self.subTest(scheme):
                page = self.open(self.made("gallery"), width, color_scheme=scheme)
                shown = page.locator("tbody tr:visible")
                self.assertEqual(shown.count(), 2)
                self.assertIn("column device has markup", page.locator("main li").inner_text())
                page.get_by_label("Kind").select_option("gpu")
                self.assertEqual(shown.count(), 1)
                self.assertIn("NVIDIA H200", shown.inner_text())
                page.get_by_label("Measured since").fill("2026-11-29")
                self.assertEqual(shown.count(), 0)
                page.get_by_label("Measured since").fill("2026-11-28")
                self.check_gallery_page(page, width, "list-" + scheme)
                shown.get_by_role("link", name="Compare").focus()
                page.keyboard.press("Enter")
                page.wait_for_url("**/compare.html#*")
                self.assertIn("NVIDIA H200", page.locator("#chosen thead th").nth(1).inner_text())
                second = page.get_by_label("Device 2")
                self.assertNotEqual(second.input_value(), "")
                data = data_of(page.url.removeprefix("file://").split("#")[0])[0]
                rates = [next(one for one in data["devices"] if one["id"] == select.input_value())["traits"]["triad_rate"]["value"]
                         for select in (page.get_by_label("First device"), second)]
                ratio = page.locator("#chosen tbody tr", has_text="STREAM triad").locator("td").nth(2).inner_text()
                self.assertLess(abs(float(ratio.rstrip("x")) / (rates[1] / rates[0]) - 1), 0.01)
                second.select_option("")
                self.assertEqual(page.locator("#chosen thead th").count(), 2)
                self.assertNotIn(",", page.url.split("#")[1])
                self.check_gallery_page(page, width, "compare-" + scheme)

    def check_gallery_page(self, page, width, name):
        page.screenshot(path=os.path.join(FOLDER, name + ".png"), full_page=True)
        self.assertEqual(self.errors, [])
        self.assertEqual([url for url in self.requests if not url.startswith("file:")], [])
        self.assertIsNone(page.evaluate("window.hacked ?? null"))
        self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)
        found = Axe().run(page).response["violations"]
        self.assertEqual([(one["id"], one["nodes"][0]["html"][:200]) for one in found], [])

    def test_before_and_after(self):
        path = self.made("regression")
        page = self.open(path)
        self.check_drawn(page)
        ratios = [row[2] for row in charts_of(data_of(path)[0])[0]["panels"][0]["rows"]]
        self.assertEqual(ratios, sorted(ratios, reverse=True))

    def test_many_rows(self):
        """Of many devices and runs, or of one that was searched."""
        for name in ("devices", "searched"):
            with self.subTest(name):
                path = self.made(name)
                value, _ = data_of(path)
                begun = time.monotonic()
                page = self.open(path)
                page.wait_for_selector("main section")
                print(f"{name}: {value['rows']} rows, {os.path.getsize(path)} bytes, opened after {time.monotonic() - begun:.1f} s")
                self.assertGreater(value["rows"], 0.99 * MANY)
                self.assertLess(os.path.getsize(path), 4 * 2**20)
                self.check_drawn(page)
                self.assertLess(page.locator("tbody tr").count(), 5000)
                if name == "searched":
                    notes = json.dumps([panel["note"] for chart in charts_of(value) for panel in chart["panels"]])
                    self.assertRegex(notes, rf"drawn: one in \d+ of {MANY // 1000}\d\d\d points")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[4:]])
