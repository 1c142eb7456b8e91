# SPDX-License-Identifier: Apache-2.0
"""clweave: measures OpenCL kernels and reads the results.

    rows = clweave.run('saxpy.cl', n=[1_000_000, 10_000_000])
    rows = clweave.read('h200.csv')

Both give a pandas.DataFrame, or without pandas a list of dicts. docs/schema/1/row.json has the columns; those behind
them are axes.
"""

import functools
import importlib.metadata
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import warnings

_CASE_FAILED = 1  # exit code; the rows say how


class Error(Exception):
    """What the program says of what it refuses; `code` is its exit code."""

    def __init__(self, message, code):
        super().__init__(message)
        self.code = code


def program() -> pathlib.Path:
    """The path of the program: of this package, else of PATH."""
    try:
        files = importlib.metadata.files('clweave') or ()
    except importlib.metadata.PackageNotFoundError:
        files = ()
    for file in files:
        if file.name == 'clweave' and file.parent.name == 'bin':
            return pathlib.Path(file.locate()).resolve()
    found = shutil.which('clweave')
    if found is None:
        raise FileNotFoundError('the program clweave is neither where its package put it nor in PATH: '
                                'pip install --force-reinstall clweave')
    return pathlib.Path(found).resolve()


def read(*files):
    """The rows of results files, of folders of them and of archives of `clweave run --share`, under today's names.

    Of a DataFrame, columns are of type Int64, Float64 or string, where an empty cell is pandas.NA; of dicts, cells are
    int, float, str or None. Raises Error, as for a file that is none of clweave's.
    """
    if not files:
        raise TypeError('read() takes results files')
    lines = _said('show', *map(os.fspath, files), '--raw', '--jsonl').splitlines()
    rows = [json.loads(line) for line in lines]
    kinds = dict(_columns())
    for row in rows:
        for name, value in row.items():
            kinds[name] = _common(kinds.get(name), value)
    rows = [{name: _converted(row.get(name), kind) for name, kind in kinds.items()} for row in rows]
    try:
        import pandas
    except ImportError:
        return rows
    types = {int: 'Int64', float: 'Float64', str: 'string'}
    return pandas.DataFrame({name: pandas.array([row[name] for row in rows], dtype=types[kind])
                             for name, kind in kinds.items()})


def run(*files, csv=None, options=None, **axes):
    """Measures kernels and returns the rows, as read() does.

    files: .cl or .toml files that describe kernels, as for `clweave run`; none: the families of `options`.
    csv: keeps the rows and their samples in this file, which must not be there.
    options: of `clweave run`, by name without dashes: {'preset': 'quick', 'runs': 5, 'energy': True}; a list repeats
        the option.
    axes: values of axes, as --set has them: n=[1000, 2000], kernel='tiled'.

    A case that fails is a row whose `status` says so. Raises Error with the program's message for what it refuses.
    """
    words = ['run', *map(os.fspath, files)]
    for axis, values in axes.items():
        words += ['--set', f'{axis}={",".join(map(_word, _listed(values)))}']
    for name, value in (options or {}).items():
        option = '--' + name.replace('_', '-')
        if value is True:
            words.append(option)
        elif value is not False and value is not None:
            for one in _listed(value):
                words += [option, _word(one)]
    if csv is not None:
        _said(*words, '--csv', os.fspath(csv), fine=(0, _CASE_FAILED))
        return read(csv)
    with tempfile.TemporaryDirectory() as folder:
        rows = os.path.join(folder, 'rows.csv')
        _said(*words, '--csv', rows, fine=(0, _CASE_FAILED))
        return read(rows)


def _listed(values):
    return [values] if isinstance(values, (str, bytes, os.PathLike)) or not hasattr(values, '__iter__') else list(values)


def _word(value):
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _said(*words, fine=(0,)):
    """What the program prints. Its environment is ours, and so is the terminal's interrupt."""
    done = subprocess.run([program(), *words], capture_output=True, encoding='utf-8', errors='replace', check=False)
    if done.returncode not in fine:
        said = re.sub('^clweave: ', '', done.stderr.strip(), flags=re.M)
        raise Error(said or f'clweave {words[0]} ended with {done.returncode}', done.returncode)
    for note in re.findall('^note: (.*)$', done.stderr, re.M):
        warnings.warn(note, stacklevel=3)
    return done.stdout


@functools.lru_cache(maxsize=None)
def _columns():
    """Name and type of each column, as the program tells."""
    kinds = {'integer': int, 'number': float}
    properties = json.loads(_said('list', '--columns', '--json'))['properties']
    return tuple((name, kinds.get(what.get('type', ['string'])[0], str)) for name, what in properties.items())


def _common(kind, value):
    """The narrowest type of a column with these and this value."""
    if value is None or kind is type(value):
        return kind
    if kind is None:
        return type(value)
    return float if {kind, type(value)} == {int, float} else str


def _converted(value, kind):
    return value if value is None else kind(value)
