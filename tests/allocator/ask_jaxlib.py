#!/usr/bin/env python3
"""Asks installed jaxlibs what they make of settings, for tests/allocator/jaxlib_answers.jsonl.

    for v in 0.4.30 0.7.1 0.10.2 0.11.0; do python3 -m venv venv_$v; venv_$v/bin/pip install jaxlib==$v; done
    tests/allocator/ask_jaxlib.py venv_*/bin/python > answers.jsonl

Settings are those of the table; an answer is what generate_pjrt_gpu_plugin_options of jaxlib/xla_client.py returned,
less platform_name ("cuda" always), the fraction as Python writes it; or the text of the exception that it raised.
"""
import json
import os
import pathlib
import subprocess
import sys

TABLE = pathlib.Path(__file__).parent / "jaxlib_answers.jsonl"
ASK = """
import json, os, sys
from jaxlib import version, xla_client
answers = []
for settings in json.load(sys.stdin):
    os.environ.update(settings)
    try:
        answer = dict(xla_client.generate_pjrt_gpu_plugin_options())
        del answer["platform_name"]
        if "memory_fraction" in answer:
            answer["memory_fraction"] = repr(answer["memory_fraction"])
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    for name in settings:
        del os.environ[name]
    answers.append(answer)
json.dump([version.__version__, answers], sys.stdout)
"""


def ask(python, settings):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("XLA_", "TF_", "JAX_"))}
    requested = subprocess.run([python, "-c", ASK], input=json.dumps(settings), env=clean, capture_output=True, text=True, check=True)
    return json.loads(requested.stdout)


def main():
    settings = [json.loads(line)["set"] for line in TABLE.read_text().splitlines()]
    answers_by_version = sorted((ask(python, settings) for python in sys.argv[1:]), key=lambda row: [int(n) for n in row[0].split(".")])
    for index, one in enumerate(settings):
        groups = []
        for version, answers in answers_by_version:
            same = next((group for group in groups if group["answer"] == answers[index]), None)
            if same:
                same["jaxlib"].append(version)
            else:
                groups.append({"jaxlib": [version], "answer": answers[index]})
        print(json.dumps({"set": one, "answers": groups}))


main()
