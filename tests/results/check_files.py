#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_files: committed results have a name of the fixed set, are whole, small, and name no path of a computer

    check_files.py REPOSITORY
"""
import csv
import io
import json
import pathlib
import re
import sys
import zipfile

MIB = 1 << 20
KINDS = {"quick", "claims", "baselines", "behaviours", "energy", "library-sizes", "search", "tune", "paper",
         *(f"sessions-{i}" for i in range(1, 6))}
OTHERS = {"tests.txt", "tuned.json", "NOTES.md"}

wrong = []


def check(file):
    if file.name in OTHERS:
        return
    if file.suffix != ".zip" or file.stem not in KINDS:
        wrong.append(f"{file}: no name of the fixed set: {', '.join(sorted(KINDS))} .zip, {', '.join(sorted(OTHERS))}")
        return
    with zipfile.ZipFile(file) as archive:
        if archive.namelist() != [file.stem + ".csv"]:
            wrong.append(f"{file}: holds {archive.namelist()} instead of {file.stem}.csv alone")
            return
        header, *rows = csv.reader(io.StringIO(archive.read(file.stem + ".csv").decode(), newline=""))
    if not rows or rows[-1][:2] != ["#end", str(len(rows) - 1)]:
        wrong.append(f"{file}: no #end with the number of rows: it was interrupted")
    at = header.index("command")
    for command in {row[at] for row in rows if row[0] != "#end"}:
        words = json.loads(command) if command else []
        for before, word in zip(["", *words], words):
            if re.match(r"/(tmp|root|home|work|w|mnt|Users)/|[A-Z]:\\", word) or (before == "--csv" and word.startswith("/")):
                wrong.append(f"{file}: a command has the path {word}: give a relative one")


root = pathlib.Path(sys.argv[1]) / "results"
csv.field_size_limit(1 << 30)
for folder in sorted(path for path in root.iterdir() if path.is_dir() and path.name not in ("compilers", "published")):
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    for file in files:
        if file.parent.name != "cuda":  # of programs with columns of their own
            check(file)
    if sum(file.stat().st_size for file in files) > 6 * MIB:
        wrong.append(f"{folder} has more than 6 MiB")
if sum(path.stat().st_size for path in root.rglob("*") if path.is_file()) > 25 * MIB:
    wrong.append(f"{root} has more than 25 MiB")
sys.exit("\n".join(wrong) or 0)
