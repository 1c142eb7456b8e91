# SPDX-License-Identifier: Apache-2.0
"""clweave: where the program of this package is."""

import importlib.metadata
import pathlib


def program() -> pathlib.Path:
    """The path of the installed program."""
    for file in importlib.metadata.files('clweave') or ():
        if file.name == 'clweave' and file.parent.name == 'bin':
            return pathlib.Path(file.locate()).resolve()
    raise FileNotFoundError('the program clweave is not where its package put it: pip install --force-reinstall clweave')
