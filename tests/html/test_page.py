#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# test_page: the page of `clweave report` in a real browser
#   test_page.py CLWEAVE REPOSITORY FOLDER [unittest's arguments]    FOLDER gets the pages and their pictures
# Ends with 77 where the browser or a package is missing, unless CI is set.
import base64
import csv
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
import unittest

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
QUICK = os.path.join(ROOT, "results/nvidia-h200/2026-11-21-quick.csv")
HOSTILE = """<script>window.hacked = 1</script>"'</script><img src=x onerror="window.hacked = 1">"""
VEGA = "3425bd951a44d478d0505c6b5d1e8d57656b6e9a4da7bfe88a718ce61d76e572"


def report(name, *arguments):
    path = os.path.join(FOLDER, name)
    done = subprocess.run([CLWEAVE, "report", *arguments, "-o", path], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
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


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.makedirs(FOLDER, exist_ok=True)
        begun = time.monotonic()
        files = sorted(file for file in glob.glob(os.path.join(ROOT, "results/*/*.csv")) if ".samples." not in file)
        cls.path = report("all.html", *files)
        print(f"made in {time.monotonic() - begun:.1f} s, {os.path.getsize(cls.path)} bytes")
        cls.playwright = sync_playwright().start()
        cls.browser = cls.playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.playwright.stop()

    def open(self, path, width=1280, height=900, **more):
        context = self.browser.new_context(viewport={"width": width, "height": height}, accept_downloads=True, **more)
        self.addCleanup(context.close)
        page = context.new_page()
        page.set_default_timeout(120000)
        self.errors, self.requests = [], []
        page.on("console", lambda message: self.errors.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto("file://" + path)
        return page

    def draw_all(self, page):
        page.evaluate("document.dispatchEvent(new Event('clweave-draw-all'))")
        page.wait_for_function("document.documentElement.dataset.drawn === 'all'")

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
        self.assertLessEqual({"The answer", "Divergence", "Access and caches", "Copy", "Grayscale", "Parallelism",
                              "Reduction ladder", "Scan and compaction", "Roofline", "Comparison", "Claims", "Failures",
                              "How it was measured"}, names)

    def test_specifications(self):
        with open(os.path.join(os.path.dirname(altair.__file__), "vegalite/v6/schema/vega-lite-schema.json")) as file:
            schema = json.load(file)
        validator = jsonschema.Draft7Validator(schema)
        seen = set()
        for chart in charts_of(data_of(self.path)[0]) + charts_of(data_of(self.regression())[0]):
            spec = json.dumps(chart["spec"], sort_keys=True)
            shape = re.sub(r'("(domain|range|sort)": )\[[^]]*\]', r"\1[]", spec)
            if shape in seen:
                continue
            seen.add(shape)
            self.assertIsNone(next(validator.iter_errors(chart["spec"]), None), chart["name"])
            self.assertNotIn('"url"', spec)

    def regression(self):
        aa = [os.path.join(ROOT, f"results/nvidia-h200/2026-11-22-aa-{i}.csv") for i in (1, 2)]
        return report("regression.html", aa[0], "--against", aa[1])

    def test_every_chart(self):
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
        self.assertGreater(len(page.pdf()), 10000)

    def test_each_device(self):
        page = self.open(self.path)
        for i in range(len(data_of(self.path)[0]["devices"])):
            page.select_option("#device", str(i))
            self.check_drawn(page)
            page.evaluate("delete document.documentElement.dataset.drawn")

    def test_phone(self):
        page = self.open(self.path, 390, 844, is_mobile=True, has_touch=True)
        self.check_drawn(page)
        self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), 390)
        page.screenshot(path=os.path.join(FOLDER, "phone.png"), full_page=True)

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
        self.assertGreater(figure.locator("tbody tr").count(), 2)
        with page.expect_download() as download:
            figure.get_by_role("button", name="CSV").click()
        with open(download.value.path(), newline="") as file:
            self.assertEqual(len(list(csv.reader(file))), 1 + figure.locator("tbody tr").count())
        self.assertEqual(self.errors, [])

    def test_accessible(self):
        quick = report("quick.html", QUICK)  # of all devices it would take minutes
        for scheme in ("light", "dark"):
            page = self.open(quick, color_scheme=scheme)
            self.draw_all(page)
            found = Axe().run(page).response["violations"]
            serious = [(one["id"], one["nodes"][0]["html"][:200], len(one["nodes"])) for one in found if one["impact"] in ("serious", "critical")]
            self.assertEqual(serious, [], scheme)

    def test_filters(self):
        page = self.open(self.path)
        claims = page.locator("#claims")
        rows = claims.locator("tbody tr")
        all_rows = rows.count()
        claims.locator("label", has_text="verdict").locator("select").select_option("fails")
        self.assertLess(rows.count(), all_rows)
        self.assertGreater(rows.count(), 0)
        for text in rows.all_inner_texts():
            self.assertIn("fails", text)
        claims.locator("label", has_text="seed").locator("select").select_option("000")
        for text in rows.all_inner_texts():
            self.assertTrue(text.startswith("000-"), text)
        self.assertIn(f"{rows.count()} of {all_rows}", claims.locator(".tools [role=status]").inner_text())

    def test_hostile_names(self):
        def change(row):
            return [dict(row, device=HOSTILE, driver=HOSTILE, reason=HOSTILE if row["status"] != "ok" else row["reason"])]
        folder = os.path.join(FOLDER, "<img src=x onerror=window.hacked=1>")
        os.makedirs(folder, exist_ok=True)
        path = shutil.copy(rewritten("hostile.csv", change), os.path.join(folder, '"hostile&lt;.csv'))
        text = data_of(report("hostile.html", path))[1]
        self.assertFalse("<script>window" in text or "<img src=x" in text)
        page = self.open(os.path.join(FOLDER, "hostile.html"))
        self.check_drawn(page)
        page.hover("figure svg")
        self.assertIsNone(page.evaluate("window.hacked ?? null"))
        self.assertIn(HOSTILE, page.inner_text("article h3"))
        self.assertEqual(page.locator("img").count(), 0)

    def test_before_and_after(self):
        page = self.open(self.regression())
        self.check_drawn(page)
        ratios = [row[2] for row in charts_of(data_of(os.path.join(FOLDER, "regression.html"))[0])[0]["panels"][0]["rows"]]
        self.assertEqual(ratios, sorted(ratios, reverse=True))

    def test_many_rows(self):
        base = {}

        def change(row):
            if row["family"] != "copy" or row["status"] != "ok" or row["finding"] or "kernel=grid_stride" not in row["case_id"]:
                return [row]
            if base:
                return [row]
            base.update(row)
            out = [row]
            for i in range(20000):
                group, groups = 2 + i % 100, 100000 + i
                one = dict(row, groups=str(groups), time_s=str(float(row["time_s"]) * (1 + i % 977 / 1000)))
                one["case_id"] = re.sub(r"/groups=\d+", f"/groups={groups}", row["case_id"])
                out.append(one)
            return out
        path = report("many.html", rewritten("many.csv", change))
        self.assertLess(os.path.getsize(path), 6 * 2**20)
        self.assertIn("points", json.dumps([panel["note"] for chart in charts_of(data_of(path)[0]) for panel in chart["panels"]]))
        self.check_drawn(self.open(path))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[4:]])
