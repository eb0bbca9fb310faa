"""python -m hbmscope: the program that this package brought."""

import os
import sys

import hbmscope

program = hbmscope.find_program()
if program is None:
    sys.exit("hbmscope: the program is neither in this Python's folder of scripts nor on the PATH")
os.execv(program, [program, *sys.argv[1:]])
