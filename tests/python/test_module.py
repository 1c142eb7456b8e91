#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# test_module: the Python module as a notebook uses it, with and without pandas
#   test_module.py CLWEAVE REPOSITORY FOLDER [unittest's arguments]    FOLDER gets files; OpenCL has one device
import csv
import os
import subprocess
import sys
import unittest
import warnings
import zipfile

CLWEAVE, ROOT, FOLDER = sys.argv[1:4]
sys.path.insert(0, os.path.join(ROOT, "scripts/python"))
os.environ["PATH"] = os.path.dirname(os.path.abspath(CLWEAVE)) + os.pathsep + os.environ["PATH"]
import clweave  # noqa: E402

QUICK = os.path.join(FOLDER, "quick.csv")
with zipfile.ZipFile(os.path.join(ROOT, "results/nvidia-h200/quick.zip")) as archive:
    archive.extract("quick.csv", FOLDER)

try:
    import pandas
except ImportError:
    pandas = None


def without_pandas(call):
    """What `call` gives where pandas is not installed."""
    kept = sys.modules.get("pandas")
    sys.modules["pandas"] = None
    try:
        return call()
    finally:
        del sys.modules["pandas"]
        if kept is not None:
            sys.modules["pandas"] = kept


def cells_of(path):
    with open(path, newline="") as file:
        return [row for row in csv.DictReader(file) if row["schema"] != "#end"]


class Module(unittest.TestCase):
    def test_finds_the_program(self):
        self.assertEqual(str(clweave.program()), os.path.realpath(CLWEAVE))
        words = [sys.executable, "-m", "clweave", "--version"]
        environment = {**os.environ, "PYTHONPATH": os.path.join(ROOT, "scripts/python")}
        ours = subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout
        self.assertEqual(ours, subprocess.run([CLWEAVE, "--version"], capture_output=True, text=True).stdout)

    def test_reads_rows_as_dicts(self):
        rows = without_pandas(lambda: clweave.read(QUICK))
        cells = cells_of(QUICK)
        self.assertEqual(len(rows), len(cells))
        for row, cell in zip(rows, cells):
            self.assertEqual(row["device"], cell["device"])
            self.assertEqual(row["time_s"], float(cell["time_s"]) if cell["time_s"] else None)
            self.assertEqual(row["samples"], int(cell["samples"]) if cell["samples"] else None)
            self.assertEqual(row["n"], int(cell["n"]) if cell["n"] else None)
        self.assertEqual({type(row["time_s"]) for row in rows}, {float, type(None)})
        self.assertEqual(len({tuple(row) for row in rows}), 1, "all rows have the same columns")

    def test_reads_rows_as_a_table(self):
        if pandas is None:
            self.skipTest("no pandas")
        table = clweave.read(QUICK)
        cells = cells_of(QUICK)
        self.assertEqual(len(table), len(cells))
        for column, kind in (("n", "Int64"), ("samples", "Int64"), ("time_s", "Float64"), ("value", "Float64"),
                             ("kernel", "string"), ("status", "string"), ("label", "string")):
            self.assertEqual(str(table[column].dtype), kind, column)
        fast = table[table.status == "ok"].groupby("family").gb_per_s.max()
        self.assertAlmostEqual(fast["copy"], max(float(cell["gb_per_s"]) for cell in cells
                                                 if cell["family"] == "copy" and cell["gb_per_s"]))
        self.assertTrue(table.n.isna().any(), "a cell that is not known is none, and not 0")

    def test_runs_and_returns_the_rows(self):
        options = {"family": "copy", "preset": "smoke", "max_samples": 5, "no_peak": True, "energy": False, "label": None}
        rows = without_pandas(lambda: clweave.run(options=options, n=[1009, 2003], kernel="no_loop"))
        self.assertEqual({row["n"] for row in rows if row["finding"] is None}, {1009, 2003})
        self.assertEqual({row["kernel"] for row in rows if row["finding"] is None}, {"no_loop"})
        self.assertIn("ok", {row["status"] for row in rows})
        path = os.path.join(FOLDER, "a name with spaces.csv")
        if os.path.exists(path):
            os.remove(path)
        kept = without_pandas(lambda: clweave.run(csv=path, options=options, n=1009))
        self.assertEqual(kept, without_pandas(lambda: clweave.read(path)))

    def test_says_what_the_program_says(self):
        with self.assertRaises(clweave.Error) as refused:
            clweave.run(options={"family": "copy", "preset": "smoke"}, n="many")
        self.assertEqual(refused.exception.code, 2)
        self.assertIn("n", str(refused.exception))
        with self.assertRaisesRegex(clweave.Error, "nothing like it"):
            clweave.run(options={"device": "nothing like it"})
        with self.assertRaises(clweave.Error) as none:
            clweave.read(os.path.join(FOLDER, "not here.csv"))
        self.assertIn("not here.csv", str(none.exception))
        self.assertFalse(str(none.exception).startswith("clweave:"))
        other = os.path.join(FOLDER, "other.csv")
        with open(other, "w") as file:
            file.write("a,b\n1,2\n")
        with self.assertRaisesRegex(clweave.Error, "other.csv:1: no column"):
            clweave.read(other)
        with self.assertRaises(TypeError):
            clweave.read()

    def test_warns_of_interrupted_files(self):
        path = os.path.join(FOLDER, "interrupted.csv")
        with open(QUICK) as source, open(path, "w") as target:
            target.writelines(source.readlines()[:-1])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            clweave.read(path)
        self.assertTrue(any("interrupted" in str(one.message) for one in caught), [str(one.message) for one in caught])


if __name__ == "__main__":
    os.makedirs(FOLDER, exist_ok=True)
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
