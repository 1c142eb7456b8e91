#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# test_schema: what commands print as JSON against docs/schema, and results for tuners against Kernel Tuner's schemas
#   test_schema.py CLWEAVE REPOSITORY FOLDER [unittest's arguments]    FOLDER gets files; the devices are those of OpenCL
# Ends with 77 where jsonschema is missing, unless CI is set.
import copy
import csv
import glob
import io
import json
import os
import statistics
import subprocess
import sys
import unittest
import zipfile

try:
    import jsonschema
    import referencing
except ImportError as error:
    print(f"left out: {error} (scripts/test installs it)")
    sys.exit(1 if os.environ.get("CI") else 77)

CLWEAVE, ROOT, FOLDER = sys.argv[1:4]
SCHEMAS = os.path.join(ROOT, "docs/schema/1")
TUNER = os.path.join(ROOT, "build/tuner-schemas/lib/python3*/site-packages/kernel_tuner/schema")
H200 = os.path.join(ROOT, "results/nvidia-h200")
QUICK = sorted(glob.glob(os.path.join(ROOT, "results/*/quick.zip")))
AA = sorted(glob.glob(os.path.join(H200, "sessions-[1-4].zip")))
TUNED = sorted(glob.glob(os.path.join(H200, "tune.zip")))


def unpacked(path):
    """The rows of an archive, or of a CSV, as a text to read."""
    if not path.endswith(".zip"):
        return open(path, newline="")
    with zipfile.ZipFile(path) as archive:
        return io.StringIO(archive.read(archive.namelist()[0]).decode(), newline="")


def started(*words):
    return subprocess.run([CLWEAVE, *words], capture_output=True, text=True)


def said(*words, code=(0,)):
    done = started(*words)
    assert done.returncode in code, f"{words}: exit code {done.returncode}: {done.stderr[-2000:]}"
    return done.stdout


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def properties_of(schema, path=""):
    """Each property of a schema with its place."""
    if isinstance(schema, dict):
        for name, what in schema.get("properties", {}).items():
            yield f"{path}/{name}", what
        for name, part in schema.items():
            yield from properties_of(part, f"{path}/{name}")


class Schemas(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.schemas = {os.path.basename(path): load(path) for path in glob.glob(os.path.join(SCHEMAS, "*.json"))}
        cls.registry = referencing.Registry().with_resources(
            (name, referencing.Resource.from_contents(schema)) for name, schema in cls.schemas.items())
        cls.seen = set()

    def validator(self, name):
        self.seen.add(name)
        return jsonschema.Draft202012Validator({"$ref": name}, registry=self.registry)

    def check(self, name, value):
        error = jsonschema.exceptions.best_match(self.validator(name).iter_errors(value))
        self.assertIsNone(error, f"{name}: {error and error.json_path}: {error and error.message[:300]}")
        self.assertTrue(value, name)
        return value

    def check_output(self, name, *words, code=(0,)):
        return self.check(name, json.loads(said(*words, "--json", code=code)))

    def test_schemas_are_schemas_and_explain_each_property(self):
        self.assertGreater(len(self.schemas), 10)
        for name, schema in self.schemas.items():
            jsonschema.Draft202012Validator.check_schema(schema)
            found = list(properties_of(schema))
            self.assertTrue(found, name)
            for place, what in found:
                self.assertTrue("$ref" in what or what.get("description"), f"{name}: {place}")

    def test_rows_schema_is_the_programs(self):
        with open(os.path.join(SCHEMAS, "row.json"), encoding="utf-8") as file:
            self.assertEqual(said("list", "--columns", "--json"), file.read(),
                             "docs/schema/1/row.json has other columns than: clweave list --columns --json")

    def test_rows(self):
        for path in (*QUICK, *TUNED):
            rows = [json.loads(line) for line in said("show", path, "--raw", "--jsonl").splitlines()]
            validator = self.validator("row.json")
            required = self.schemas["row.json"]["required"]
            for row in rows:
                whole = {**dict.fromkeys(required), **row}
                error = jsonschema.exceptions.best_match(validator.iter_errors(whole))
                self.assertIsNone(error, f"{path}: {error}")
        whole = self.check_rows_as_json(QUICK[0])
        self.assertEqual(whole, [{**dict.fromkeys(whole[0]), **row} for row in
                                 map(json.loads, said("show", QUICK[0], "--raw", "--jsonl").splitlines())])

    def sessions(self):
        """The sessions as CSVs: fleet reads no archives."""
        paths = [os.path.join(FOLDER, os.path.basename(path).replace(".zip", ".csv")) for path in AA]
        for path, copy in zip(AA, paths):
            with unpacked(path) as source, open(copy, "w", newline="") as target:
                target.write(source.read())
        return paths

    def check_rows_as_json(self, path):
        rows = json.loads(said("show", path, "--raw", "--json"))
        with unpacked(path) as file:
            cells = [row for row in csv.DictReader(file) if row["schema"] != "#end"]
        self.assertEqual(len(rows), len(cells))
        numbers = 0
        for row, cell in zip(rows, cells):
            for name in ("time_s", "time_low_s", "gb_per_s", "samples", "n", "order", "device"):
                text = cell.get(name) or None
                value = row.get(name)
                numbers += isinstance(value, (int, float))
                self.assertEqual(value, text if text is None or isinstance(value, str) else type(value)(text), name)
            self.assertNotIsInstance(row["n"], str)
        self.assertGreater(numbers, len(rows))
        return rows

    def test_show(self):
        for path in QUICK:
            shown = self.check_output("show.json", "show", path)
            table = list(csv.DictReader(io.StringIO(said("show", path, "--csv"))))
            raw = map(json.loads, said("show", path, "--raw", "--jsonl").splitlines())
            single = {row["case_id"] for row in raw if row.get("samples") == 1}  # which has no interval
            self.assertEqual(list(shown[0]), list(table[0]), "one name for one quantity in every format")
            for row in shown:
                self.assertNotIsInstance(row["n"], str, row["case_id"])
                if row["time_s"] is None:
                    continue
                if row["case_id"] in single:
                    self.assertEqual([row["time_low_s"], row["time_high_s"]], [None, None])
                    continue
                self.assertLessEqual(row["time_low_s"], row["time_s"])
                self.assertGreaterEqual(row["time_high_s"], row["time_s"])

    def test_baselines(self):
        self.check_output("show-baseline.json", "show", QUICK[0], "--baseline", "kernel=no_loop", "--family", "copy")

    def test_tables_of_devices(self):
        self.check_output("profile.json", "profile", *QUICK)
        self.check_output("roofline.json", "roofline", *QUICK)
        self.check_output("claims.json", "claims", *QUICK)

    def test_comparisons(self):
        runs = self.check_output("compare-runs.json", "compare-runs", AA[0], AA[1])
        self.assertTrue(runs["cases"] and runs["devices"][0]["together"])
        devices = self.check_output("compare-devices.json", "compare-devices", *QUICK)
        self.assertIn("copy", devices["devices"][0]["peaks"])
        self.assertTrue(devices["families"][0]["variants"][0]["devices"] and devices["inversions"])
        self.check_output("fleet.json", "fleet", *self.sessions(), code=(0, 1, 6))

    def test_health(self):
        reference = os.path.join(FOLDER, "reference.json")
        said("health", *AA[:3], "--emit-reference", reference)
        self.check("reference.json", load(reference))
        self.check_output("health.json", "health", AA[3], "--reference", reference, code=(0, 1, 6))

    def test_stores(self):
        paths = glob.glob(os.path.join(ROOT, "results/*/tuned.json"))
        self.assertTrue(paths)
        for path in paths:
            self.check("tuned.json", load(path))

    def test_families_and_devices(self):
        families = self.check_output("list.json", "list")
        self.assertTrue(any(family["derived"] for family in families))
        self.check_output("devices.json", "devices")

    def test_inspections(self):
        one = started("inspect", "copy", "--target", "spirv", "--json")
        if "no compiler" in one.stderr or not one.stdout:
            self.skipTest(one.stderr)
        self.check("inspect.json", json.loads(one.stdout))
        self.check_output("inspect-every.json", "inspect", "--every", "--family", "copy", "--target", "spirv")

    def test_what_is_wrong_is_refused(self):
        row = json.loads(said("show", QUICK[0], "--raw", "--json"))[0]
        shown = json.loads(said("show", QUICK[0], "--json"))
        for name, value, place in (("row.json", row, row), ("show.json", shown, shown[0])):
            validator = self.validator(name)
            self.assertTrue(validator.is_valid(value), name)
            for key in self.schemas[name].get("required", self.schemas[name].get("items", {}).get("required")):
                kept = place.pop(key)
                self.assertFalse(validator.is_valid(value), f"{name} without {key}")
                place[key] = [kept]
                self.assertFalse(validator.is_valid(value), f"{name} with a list as {key}")
                place[key] = kept
            for key in ("time_s", "gb_per_s"):
                kept = place[key]
                place[key] = "1.5"
                self.assertFalse(validator.is_valid(value), f"{name} with text as {key}")
                place[key] = kept
            self.assertTrue(validator.is_valid(value), name)
        listed = json.loads(said("list", "--json"))
        listed[0]["axes"][0]["more"] = 1
        self.assertFalse(self.validator("list.json").is_valid(listed))


class Tuners(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        found = glob.glob(os.path.join(TUNER, "T4/1.0.0"))
        if not found:
            if os.environ.get("CI"):
                raise AssertionError(f"no {TUNER}: scripts/test fetches it")
            raise unittest.SkipTest(f"no {TUNER}: scripts/test fetches it")
        cls.results, cls.metadata = (
            jsonschema.Draft202012Validator(load(os.path.join(found[0], f"{name}-schema.json")))
            for name in ("results", "metadata"))

    def converted(self, *words):
        path = os.path.join(FOLDER, "t4.json")
        if os.path.exists(path):
            os.remove(path)
        said(*words, "--t4", path, code=(0, 1) if words[0] == "tune" else (0,))  # 1: a busy machine's times
        out = load(path)
        for validator in (self.results, self.metadata):
            error = jsonschema.exceptions.best_match(validator.iter_errors(out))
            self.assertIsNone(error, error)
        self.assertTrue(out["results"])
        return out

    def value_of(self, result, name):
        return next((one["value"] for one in result["measurements"] if one["name"] == name), None)

    def test_a_search(self):
        out = self.converted("show", TUNED[0], "--family", "copy")
        rows = [json.loads(line) for line in said("show", TUNED[0], "--raw", "--jsonl", "--family", "copy").splitlines()]
        last = {row["case_id"]: row for row in rows if "finding" not in row}
        self.assertEqual(len(out["results"]), len(last))
        self.assertEqual(out["schema_version"], "1.0.0")
        self.assertEqual(out["metadata"]["timeunit"], "milliseconds")
        axes = [axis["axis"] for axis in json.loads(said("list", "--family", "copy", "--json"))[0]["axes"]]
        without = 0
        for result, row in zip(out["results"], last.values()):
            self.assertEqual(result["configuration"], {axis: row[axis] for axis in axes})
            self.assertIsInstance(result["configuration"]["n"], int)
            self.assertEqual(result["timestamp"], row["time_utc"])
            self.assertEqual(result["objectives"], ["time"])
            self.assertEqual(result["invalidity"], "correct")
            self.assertEqual(result["correctness"], 1)
            self.assertAlmostEqual(self.value_of(result, "time"), 1e3 * row["time_s"])
            if "time_low_s" not in row:  # too few samples for an interval
                self.assertIsNone(self.value_of(result, "time_low"))
                without += 1
            else:
                self.assertLessEqual(self.value_of(result, "time_low"), self.value_of(result, "time"))
            self.assertAlmostEqual(self.value_of(result, "GB/s"), row["gb_per_s"])
            self.assertEqual(result["times"]["compilation_time"], row["build_ms"])
        self.assertLessEqual(without, 6)

    def test_each_status_has_a_word(self):
        words = {"ok": "correct", "unsupported": "constraints", "build_failed": "compile", "launch_failed": "runtime",
                 "out_of_memory": "runtime", "wrong_result": "correctness", "timeout": "timeout", "crashed": "runtime",
                 "device_lost": "runtime", "implausible": "runtime"}
        status = load(os.path.join(SCHEMAS, "row.json"))["properties"]["status"]["enum"]
        self.assertEqual(set(words), set(status) - {None})
        path = os.path.join(FOLDER, "statuses.csv")
        with unpacked(QUICK[0]) as source, open(path, "w", newline="") as target:
            reader = csv.DictReader(source)
            rows = [row for row in reader if row["family"] == "copy" and not row["finding"] and row["status"] == "ok"]
            writer = csv.DictWriter(target, reader.fieldnames, lineterminator="\n")
            writer.writeheader()
            self.assertGreater(len(rows), len(words))
            for row, word in zip(rows, words):
                writer.writerow({**row, "status": word, "reason": f"why {word}"})
            writer.writerow({**rows[len(words)], "verified": "no"})
        results = self.converted("show", path)["results"]
        self.assertEqual([result["invalidity"] for result in results], [*words.values(), "correctness"])
        self.assertEqual([result["correctness"] for result in results], [1] + [0] * len(words))
        self.assertEqual(self.value_of(results[1], "reason"), "why unsupported")
        broken = copy.deepcopy({"results": results})
        broken["results"][0]["invalidity"] = "unsupported"
        self.assertFalse(self.results.is_valid(broken))

    def test_what_it_cannot_tell_apart_is_refused(self):
        path = os.path.join(FOLDER, "t4.json")
        other = os.path.join(FOLDER, "notes.txt")
        with open(other, "w") as file:
            file.write("mine\n")
        for words, part in (((QUICK[0], "--t4", path), "add --family and one of "),
                            ((*QUICK[:2], "--family", "copy", "--t4", path), "T4 is of one device: give the files of one"),
                            ((QUICK[0], "--family", "copy,scan", "--t4", path), "name one --family"),
                            ((QUICK[0], "--family", "copy", "--t4", other), "choose another name")):
            done = started("show", *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(part, done.stderr)
        with open(other) as file:
            self.assertEqual(file.read(), "mine\n")

    def test_tune_writes_it(self):
        rows, store = os.path.join(FOLDER, "tune.csv"), os.path.join(FOLDER, "tuned.json")
        words = ("tune", "--family", "copy", "--preset", "smoke", "--set", "n=1009", "--where", "kernel=no_loop",
                 "--budget", "8cases", "--strategy", "random", "--max-samples", "5", "--csv", rows, "--overwrite",
                 "--store", store, "--no-peak")
        out = self.converted(*words)
        self.assertGreater(len(out["results"]), 1)
        self.assertEqual({result["configuration"]["n"] for result in out["results"]}, {1009})
        samples = {row["case_id"]: row for row in map(json.loads, said("show", rows, "--raw", "--jsonl").splitlines())}
        for result, row in zip(out["results"], samples.values()):
            runtimes = result["times"]["runtimes"]
            self.assertEqual(len(runtimes), row["samples"])
            self.assertAlmostEqual(statistics.median(runtimes), 1e3 * row["time_s"], delta=1e-3 * runtimes[0])
        done = started("tune", "--family", "copy,scan", "--csv", rows, "--t4", os.path.join(FOLDER, "t4.json"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("--t4 is of one kernel", done.stderr)

    def test_an_input_of_another_tuner(self):
        path = os.path.join(ROOT, "tests/description/blur.json")
        taken = load(path)
        schema = load(glob.glob(os.path.join(TUNER, "T1/1.0.0/input-schema.json"))[0])
        jsonschema.Draft7Validator(schema).validate(taken)
        out = self.converted("tune", path, "--strategy", "exhaustive", "--max-samples", "5", "--no-peak", "--csv",
                             os.path.join(FOLDER, "blur.csv"), "--overwrite", "--store", os.path.join(FOLDER, "blur.json"))
        tried = [result["configuration"] for result in out["results"]]
        wanted = [(block, tile, form) for block in (16, 32, 64) for tile in (1, 2, 4) for form in ("plain", "doubled")
                  if block * tile >= 32 and (block != 64 or tile in (1, 2))]
        self.assertEqual(sorted((one["block_size_x"], one["tile"], one["form"]) for one in tried), sorted(wanted))
        self.assertEqual({result["invalidity"] for result in out["results"]}, {"correct"})


if __name__ == "__main__":
    os.makedirs(FOLDER, exist_ok=True)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
