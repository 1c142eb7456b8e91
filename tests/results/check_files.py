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
KINDS = {"quick", "profile", "claims", "claims-again", "baselines", "behaviours", "energy", "library-sizes", "search", "tune", "paper",
         *(f"sessions-{i}" for i in range(1, 6))}
OTHERS = {"tests.txt", "tuned.json", "NOTES.md"}
# A budget ended these runs before their last case, so they have no #end.
CUT_SHORT = {"nvidia-h100/quick", "xeon-16-cores-pocl-5/quick",
             *(f"{device}/sessions-{i}" for device in ("xeon-16-cores-pocl-5", "epyc-2-cores-rusticl") for i in range(1, 6))}

wrong = []


def check(file):
    if file.name in OTHERS:
        return
    if file.suffix != ".zip" or file.stem not in KINDS:
        wrong.append(f"{file}: no name of the fixed set: {', '.join(sorted(KINDS))} .zip, {', '.join(sorted(OTHERS))}")
        return
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()
        shared = "devices.json" in names  # by clweave run --share: named after the device, with samples
        tables = [name for name in names if name.endswith(".csv") and not (shared and name.endswith(".samples.csv"))]
        if len(tables) != 1 or not shared and names != [file.stem + ".csv"]:
            wrong.append(f"{file}: holds {names} instead of {file.stem}.csv alone, or what clweave run --share writes of a device")
            return
        header, *rows = csv.reader(io.StringIO(archive.read(tables[0]).decode(), newline=""))
    cut_short = f"{file.parent.name}/{file.stem}" in CUT_SHORT
    if cut_short and rows and rows[-1][0] == "#end":
        wrong.append(f"{file}: is whole now: take it out of CUT_SHORT")
    if not cut_short and (not rows or rows[-1][:2] != ["#end", str(len(rows) - 1)]):
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
