# SPDX-License-Identifier: Apache-2.0
"""python -m clweave: the program, with the same words."""

import os
import sys

from clweave import program

os.execv(program(), ['clweave', *sys.argv[1:]])
