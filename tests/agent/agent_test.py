#!/usr/bin/env python3
"""The MCP server, through the client of the official SDK: every tool on samples, what is refused, and the size of answers.

    agent_test.py HBMSCOPE PYTHON [unittest's arguments]

PYTHON: one with the package mcp. The last test is an evaluation: 60 failures with known causes (failures.py), the same
three tools for each, every fact compared. It prints a table. A store is asked if build/fleet_python exists.
"""

import asyncio
import base64
import contextlib
import json
import logging
import os
import pathlib
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples"
FRAGMENTS = SAMPLES / "fragments.hbm"
FLEET_PYTHON = ROOT / "build/fleet_python/bin/python"
SERVER = ROOT / "app/mcp/server.py"
TOKENS = 1500
TOOLS = ["open", "explain", "holders", "table", "diff", "savings", "whatif", "fleet", "picture"]
HBMSCOPE = None  # Set by main().

# A job that needs no framework: requests of so many MiB.
JOB = """
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
context, address = ctypes.c_void_p(), ctypes.c_uint64()
assert cuda.cuInit(0) == 0 and cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0 and cuda.cuCtxSetCurrent(context) == 0
for size in map(int, sys.argv[1:]):
    if cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size << 20)) != 0:
        raise RuntimeError("CUDA out of memory")
"""


def tokens(text):
    return (len(text) + 3) // 4


def of(value, name):
    """A field by its name in JSON; version 2 of the package has another one for it in Python."""
    return getattr(value, name) if hasattr(value, name) else getattr(value, re.sub("[A-Z]", lambda letter: "_" + letter.group().lower(), name))


class Agent:
    """A client with a server of its own, for one test."""

    def __init__(self, *options, program=None):
        self.words = [str(SERVER), str(program or HBMSCOPE), *options]
        self.largest = 0

    async def __aenter__(self):
        from mcp import ClientSession, StdioServerParameters
        from mcp.client.stdio import stdio_client

        self.stack = contextlib.AsyncExitStack()
        streams = await self.stack.enter_async_context(stdio_client(StdioServerParameters(command=sys.executable, args=self.words, env=dict(os.environ))))
        self.session = await self.stack.enter_async_context(ClientSession(*streams))
        self.initialized = await self.session.initialize()
        return self

    async def __aexit__(self, *error):
        await self.stack.aclose()

    async def call(self, tool, **words):
        return await self.session.call_tool(tool, {key: str(word) if isinstance(word, pathlib.Path) else word for key, word in words.items()})

    async def ask(self, tool, **words):
        """The answer as an object; its size counts."""
        answer = await self.call(tool, **words)
        [content] = answer.content
        assert not of(answer, "isError"), content.text
        assert of(answer, "structuredContent") is None, "it would count twice"
        self.largest = max(self.largest, tokens(content.text))
        assert tokens(content.text) <= TOKENS, (tool, words, tokens(content.text))
        found = json.loads(content.text)
        assert list(found)[-1] == "command", found
        return found

    async def refusal(self, tool, **words):
        answer = await self.call(tool, **words)
        assert of(answer, "isError"), answer.content
        assert tokens(answer.content[0].text) <= TOKENS
        return answer.content[0].text


class AgentTest(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    async def asyncSetUp(self):
        asyncio.get_running_loop().set_debug(False)  # It would report each pause of a test.

    def printed(self, command):
        """What a person gets who runs the command of an answer."""
        return subprocess.run(shlex.split(command), check=True, capture_output=True, text=True).stdout

    async def test_arguments_that_a_tool_does_not_have_are_refused(self):
        async with Agent() as agent:
            self.assertEqual("The tool open has no argument nonsense. Its arguments are file.", await agent.refusal("open", file=SAMPLES / "fragments.hbm", nonsense="1"))
            self.assertIn("The tool explain needs file. Its arguments are file, failure.", await agent.refusal("explain"))

    async def test_the_server_says_its_own_version(self):
        async with Agent() as agent:
            version = subprocess.run([HBMSCOPE, "--version"], check=True, capture_output=True, text=True).stdout.split()[1]
            self.assertEqual(version, of(agent.initialized, "serverInfo").version)

    async def test_the_tools_are_listed_with_what_they_are_for(self):
        async with Agent() as agent, Agent("--allow-run") as runner:
            tools = (await agent.session.list_tools()).tools
            self.assertEqual([tool.name for tool in tools], TOOLS)
            for tool in tools:
                self.assertTrue(tool.description and of(tool.annotations, "readOnlyHint"), tool.name)
                self.assertTrue(all("type" in word or "anyOf" in word for word in of(tool, "inputSchema")["properties"].values()), of(tool, "inputSchema"))
            more = (await runner.session.list_tools()).tools
            self.assertEqual([tool.name for tool in more], [*TOOLS, "dry_run"])
            self.assertFalse(of(more[-1].annotations, "readOnlyHint"))
            self.assertLessEqual(tokens("".join(tool.model_dump_json(exclude_none=True) for tool in more)), 2500)
            self.assertIn("dry_run", await agent.refusal("dry_run", device="h100", command=["true"]))

    async def test_each_answer_of_the_program_is_a_table(self):
        names = [line.split(":")[0] for line in subprocess.run([HBMSCOPE, "mcp", "--answers"], check=True, capture_output=True, text=True).stdout.splitlines()]
        self.assertIn("ranks", names)
        async with Agent() as agent:
            for name in names:
                found = await agent.ask("table", file=FRAGMENTS, what=[name], at="oom")
                self.assertIn(f"--only={name}", found["command"])
            found = await agent.ask("table", file=FRAGMENTS, what=["heaps", "counters"], at="peak")
            self.assertEqual(found["heaps"][0]["in_use_bytes"], 18 << 30)
            self.assertIn("heaps", await agent.refusal("table", file=FRAGMENTS, what=["everything"]))
            self.assertIn("profile", await agent.refusal("table", file=SAMPLES / "arrays.pprof.gz", what=["ranks"]))

    async def test_open_explain_and_holders_of_a_recording(self):
        async with Agent() as agent:
            found = await agent.ask("open", file=FRAGMENTS)
            self.assertEqual((found["kind"], found["failed"], found["verdict"], len(found["heaps"])), ("recording", 2, "fragmentation", 1))
            self.assertIn(found["summary"], self.printed(found["command"]))
            why = await agent.ask("explain", file=FRAGMENTS)
            self.assertEqual((why["verdict"], why["requested_bytes"], why["largest_free_bytes"]), ("fragmentation", 3 << 30, 3 << 29))
            self.assertEqual({advice["proof"] for advice in why["advice"]}, {"replayed", "computed"})
            self.assertIn(why["sentence"], self.printed(why["command"]))
            last = await agent.ask("explain", file=FRAGMENTS, failure="last")
            self.assertEqual((why["event"], last["event"]), (26, 61))
            self.assertEqual(last["holders"][0]["bytes"], 6 << 30)
            self.assertIn(last["sentence"], self.printed(last["command"]))
            for at, line, held in (("peak", "load_table  tables.py:12", 12 << 30), ("oom", "build_index  tables.py:22", 6 << 30), ("#26", "build_index  tables.py:22", 6 << 30)):
                found = await agent.ask("holders", file=FRAGMENTS, at=at)
                self.assertEqual((found["holders"][0]["held_by"], found["holders"][0]["bytes"]), (line, held))
                self.assertIn(line, self.printed(found["command"]))

    async def test_a_leak_is_told_first_and_no_setting_is_sold_as_its_cure(self):
        file, growing = self.folder / "leak.hbm", self.folder / "growing.hbm"
        for path, words in ((file, ("--allocator", "pytorch")), (growing, ("--device-bytes", "8TiB"))):
            subprocess.run([HBMSCOPE, "demo", "--headless", "--workload", "leak", "--for", "2", "--speed", "150", "--record", path, *words], check=True, capture_output=True)
        sentence = "192 MiB more each step, made at metrics.py:17."
        async with Agent() as agent:
            opened = await agent.ask("open", file=file)
            self.assertEqual(opened["verdict"], "leak")
            self.assertTrue(opened["first_failure"].startswith(f"Leak: {sentence}"), opened)
            for which in ("first", "last"):
                why = await agent.ask("explain", file=file, failure=which)
                self.assertEqual((why["verdict"], why["immediate_verdict"]), ("leak", "fragmentation"))
                self.assertTrue(why["sentence"].startswith(f"Leak: {sentence}"), why["sentence"])
                self.assertEqual((why["growth"]["made_at"], why["growth"]["bytes_per_step"]), ("metrics.py:17", 192 << 20))
                self.assertIn("keep metrics.py:17", why["advice"][0]["change"])
                self.assertEqual(why["advice"][0]["proof"], "computed")
                for advice in why["advice"][1:]:
                    self.assertRegex(advice["why"], "^(At most [0-9]+ more steps|One more step at most)")
            why = await agent.ask("explain", file=growing)
            self.assertEqual(why["failed"], 0)
            self.assertEqual(why["sentence"], "No request failed in this file.")
            self.assertTrue(why["outlook"]["sentence"].startswith(f"Memory grows: {sentence} At most "), why["outlook"])
            self.assertEqual(why["outlook"]["growth"]["made_at"], "metrics.py:17")
            self.assertGreater(why["outlook"]["steps_at_most"], 0)

    async def test_profiles_and_what_grew_between_them(self):
        async with Agent() as agent:
            found = await agent.ask("open", file=SAMPLES / "leak_step_200.pprof.gz")
            self.assertEqual((found["kind"], found["failed"], found["time"]), ("pprof", 0, None))
            found = await agent.ask("holders", file=SAMPLES / "leak_step_200.pprof.gz", top=3)
            self.assertEqual(found["holders"][0]["held_by"], "remember_activations  train.py:77")
            self.assertRegex(found["holders"][-1], r"^and \d+ more$")
            found = await agent.ask("diff", baseline=SAMPLES / "leak_step_010.pprof.gz", now=SAMPLES / "leak_step_200.pprof.gz")
            change = found["stacks"][0]
            self.assertEqual((change["change"], change["own_line"], change["delta_bytes"]), ("grown", "remember_activations  /srv/train/train.py:77", 99_614_720))
            self.assertTrue(found["summary"].startswith("+95.0 MiB (+451.7 %): 21.0 MiB -> 116 MiB"), found["summary"])
            found = await agent.ask("diff", baseline=FRAGMENTS, from_time="start", at="peak")
            self.assertEqual((found["total"]["delta_bytes"], found["blocks"]["own_code"][0]["delta_bytes"]), (18 << 30, 12 << 30))
            self.assertIn("a profile does not say whether a request failed", await agent.refusal("explain", file=SAMPLES / "leak_step_200.pprof.gz"))

    async def test_savings_and_settings(self):
        async with Agent() as agent:
            found = await agent.ask("savings", file=FRAGMENTS, lower_by="1GiB")
            self.assertEqual((found["savings"][0]["without"], found["savings"][0]["saves_bytes"]), ("load_table  tables.py:12", 12 << 30))
            self.assertTrue(found["lower_by"]["is_reached"] and len(found["lower_by"]["savings"]) == 1)
            found = await agent.ask("whatif", file=FRAGMENTS, device="h100", settings=["XLA_CLIENT_MEM_FRACTION=.9", "allocator=platform"])
            self.assertEqual([row["setting"] for row in found["rows"][1:]], ["XLA_CLIENT_MEM_FRACTION=.9", "allocator=platform"])
            self.assertEqual((found["rows"][0]["is_own"], found["rows"][0]["fits"]), (True, False))
            fitting = sum(row["fits"] for row in found["rows"][1:])
            self.assertEqual(found["summary"], f"{fitting} of 2 settings serve every request; as recorded, not all were.")
            await agent.ask("whatif", file=FRAGMENTS, device_bytes="80GiB")
            text = self.folder / "error.txt"
            text.write_text("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 48.00 MiB. GPU 0 has a total capacity of 15.77 GiB of which 30.00 MiB is free. Process 811 has 9.10 GiB memory in use. Including non-PyTorch memory, this process has 6.63 GiB memory in use. Of the allocated memory 6.00 GiB is allocated by PyTorch, and 160.00 MiB is reserved by PyTorch but unallocated.\n")
            found = await agent.ask("whatif", file=text)
            self.assertTrue(found["summary"].startswith("Not reproduced: "), found["summary"])
            self.assertIn("an error text has no requests to replay", found["summary"])
            self.assertEqual((found["is_reproduced"], found["is_checked"]), (False, False))
            self.assertFalse(any("fits" in row for row in found["rows"] if isinstance(row, dict)), "it is unknown")
            self.assertEqual(found["rows"][0]["verdict"], "not_reproduced")
            found = await agent.ask("whatif", file=FRAGMENTS)
            self.assertIn("the device has at least 24.0 GiB", " ".join(found["notes"]))
            self.assertTrue(found["rows"][1]["fits"], "what fits comes first, after the job's own settings")

    async def test_tpu_workloads(self):
        async with Agent() as agent:
            for file in sorted((SAMPLES / "tpu").glob("*.json")):
                with self.subTest(file=file.name):
                    found = await agent.ask("open", file=file)
                    self.assertEqual(found["kind"], "tpu_workload")
                    self.assertTrue(found["heaps"])
                    self.assertEqual("sentence" in await agent.ask("explain", file=file), True)
                    self.assertTrue((await agent.ask("holders", file=file, at="peak"))["holders"])

    async def test_a_picture_is_a_png_of_the_size(self):
        async with Agent() as agent:
            for size in ((1200, 800), (600, 400)):
                answer = await agent.call("picture", file=FRAGMENTS, at="oom", view="heap-map", width=size[0], height=size[1])
                self.assertFalse(of(answer, "isError"), answer.content)
                image, text = answer.content
                png = base64.b64decode(image.data)
                self.assertEqual((of(image, "mimeType"), png[:8], struct.unpack(">II", png[16:24])), ("image/png", b"\x89PNG\r\n\x1a\n", size))
                self.assertIn("--at=oom --view=heap-map", json.loads(text.text)["command"])
            self.assertIn("less than or equal to 1200", await agent.refusal("picture", file=FRAGMENTS, width=5000))
            self.assertTrue(await agent.refusal("picture", file=FRAGMENTS, view="no such view"))

    @unittest.skipUnless(FLEET_PYTHON.exists(), "make build/fleet_python")
    async def test_a_store(self):
        store = self.folder / "a store"
        subprocess.run([HBMSCOPE, "digest", FRAGMENTS, "-o", store, "--run", "monday", "--python", FLEET_PYTHON], check=True, capture_output=True)
        async with Agent("--fleet-python", str(FLEET_PYTHON)) as agent:
            found = await agent.ask("fleet", store=store)
            self.assertEqual((found["run"], found["processes"], found["failures"][0]["requested_bytes"]), ("monday", 1, 3 << 30))
            self.assertIn("1 process on 1 host, run monday", self.printed(found["command"]))
            self.assertIn("has no run tuesday", await agent.refusal("fleet", store=store, run="tuesday"))
            self.assertIn("no store", await agent.refusal("fleet", store=self.folder))

    async def test_a_dry_run_and_its_recording(self):
        job = self.folder / "a job.py"
        job.write_text(JOB)
        async with Agent("--allow-run", "--run-limit", "5") as agent:
            found = await agent.ask("dry_run", device="h100", command=[sys.executable, str(job), "1000", "2000"], folder=self.folder)
            self.assertEqual((found["outcome"], found["holders"][0]["bytes"], found["exit_code"]), ("fits", 3000 << 20, 0))
            self.assertEqual((await agent.ask("holders", file=found["recording"], at="peak"))["in_use_bytes"], 3000 << 20)
            found = await agent.ask("dry_run", device="h100", device_bytes="2GiB", command=[sys.executable, str(job), "1000", "2000"])
            self.assertEqual((found["outcome"], found["failure"]["line"]), ("out of memory", 8))
            opened = await agent.ask("open", file=found["recording"])
            self.assertEqual((opened["dry_run"]["outcome"], opened["dry_run"]["text"].split("\n")[0]), ("out of memory", found["summary"]))
            self.assertEqual((await agent.ask("explain", file=found["recording"]))["dry_run"]["outcome"], "out of memory")
            self.assertIn("no device 'x100'", await agent.refusal("dry_run", device="x100", command=["true"]))
            self.assertIn("cannot start /nowhere/job", await agent.refusal("dry_run", device="h100", command=["/nowhere/job"]))
            self.assertIn("can't be started", await agent.refusal("dry_run", device="h100", command=["true"], folder=self.folder / "missing"))
            sleeper = "import os, pathlib, time; pathlib.Path('pid').write_text(str(os.getpid())); time.sleep(60)"
            self.assertIn("stopped after 5 seconds", await agent.refusal("dry_run", device="h100", command=[sys.executable, "-c", sleeper], folder=self.folder))
            for _ in range(50):  # The job is gone, too.
                if not pathlib.Path("/proc", (self.folder / "pid").read_text()).exists():
                    break
                await asyncio.sleep(0.1)
            else:
                self.fail("the job still runs")

    async def test_what_can_not_be_read_is_refused_with_the_sentence_of_the_program(self):
        damaged = self.folder / "damaged.hbm"
        damaged.write_bytes(FRAGMENTS.read_bytes()[:100])
        text = self.folder / "notes.md"
        text.write_text("nothing of interest\n")
        async with Agent() as agent:
            for tool in ("open", "explain", "holders", "savings", "picture"):
                self.assertIn("there is no such file", await agent.refusal(tool, file=self.folder / "missing.hbm"))
            said = subprocess.run([HBMSCOPE, "report", damaged], capture_output=True, text=True)
            self.assertEqual(said.returncode, 3)
            self.assertIn(said.stderr.splitlines()[0][:200], await agent.refusal("open", file=damaged))
            self.assertIn("this is plain text, without anything that hbmscope looks for", await agent.refusal("open", file=text))
            self.assertTrue(await agent.refusal("holders", file=FRAGMENTS, at="next tuesday"))
            self.assertTrue(await agent.refusal("holders", file=FRAGMENTS, top=0))
            self.assertTrue(await agent.refusal("open", file="a\0b"))

    async def test_no_name_is_an_option_a_shell_word_or_another_machine(self):
        odd = self.folder / "a 'name' with $(spaces); --help"
        odd.write_bytes(FRAGMENTS.read_bytes())
        async with Agent() as agent:
            found = await agent.ask("open", file=odd)
            self.assertEqual(found["failed"], 2)
            self.assertIn(found["summary"], self.printed(found["command"]))
            for name in ("-", "--version", "live:1", "live:host:1", "tcp:host:1"):
                self.assertIn("there is no such file", await agent.refusal("open", file=name))
                self.assertIn("there is no such file", await agent.refusal("picture", file=name))
            self.assertTrue(await agent.refusal("holders", file=FRAGMENTS, at="peak --html"))

    async def test_long_answers_are_cut_and_stay_json(self):
        from failures import Snapshot

        long = self.folder / "/".join(["a folder with a long name " * 4] * 3)
        long.mkdir(parents=True)
        made = Snapshot([2 << 20] * 400, set(range(1, 400, 2)), 64 << 20, 0)
        made.frames = lambda name, line: [{"name": f"function_{name}_" + "with_a_long_name" * 20, "filename": f"/srv/{'deep/' * 40}model.py", "line": line}]
        for number in range(400):  # Each block has a line of its own.
            frames = made.frames(str(number), number + 1)
            made.blocks[number]["frames"] = frames if made.blocks[number]["frames"] else []
            made.entries[number + 1]["frames"] = frames
        made.write(long / "snapshot.pickle")
        async with Agent() as agent:
            for tool, words in (("open", {}), ("explain", {}), ("holders", {"top": 50}), ("savings", {"top": 50})):
                found = await agent.ask(tool, file=long / "snapshot.pickle", **words)
                lists = [value for value in found.values() if isinstance(value, list) and value]
                self.assertTrue(tool in ("open", "explain") or any(re.fullmatch(r"and [\d,]+ more", str(value[-1])) for value in lists), found)
            found = await agent.ask("diff", baseline=long / "snapshot.pickle", from_time="start", at="end", top=50)
            self.assertRegex(found["blocks"]["own_code"][-1], r"^and [\d,]+ more$")
            print(f"\nlargest of the long answers: {agent.largest} tokens")

    async def test_a_command_that_takes_too_long_is_stopped(self):
        slow = self.folder / "slow"
        slow.write_text("#!/bin/sh\nsleep 30\n")
        slow.chmod(0o755)
        async with Agent("--time-limit", "0.5", program=slow) as agent:
            self.assertIn("stopped after 0.5 seconds, the time limit of this server", await agent.refusal("open", file=FRAGMENTS))

    async def test_another_program_is_no_answer(self):
        async with Agent(program="/bin/echo") as agent:
            self.assertIn("printed no JSON", await agent.refusal("open", file=FRAGMENTS))
        done = subprocess.run([sys.executable, SERVER, self.folder / "missing"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no program", done.stderr)

    async def test_sixty_failures_with_known_causes(self):
        from failures import make_failures

        failures = make_failures(self.folder, HBMSCOPE)
        self.assertEqual(len(failures), 60)
        table = {}
        async with Agent() as agent:
            for failure in failures:
                agent.largest = 0
                wrong = await differences(agent, failure)
                row = table.setdefault(failure.cause, [0, 0, 0])
                row[0] += 1
                row[1] += not wrong
                row[2] = max(row[2], agent.largest)
                with self.subTest(failure=failure.name):
                    self.assertEqual(wrong, [])
        width = max(map(len, table))
        print(f"\n{'cause':<{width}}  cases  right  largest answer in tokens")
        for cause, (cases, right, largest) in table.items():
            print(f"{cause:<{width}}  {cases:5}  {right:5}  {largest:6}")
        print(f"{'all':<{width}}  {sum(row[0] for row in table.values()):5}  {sum(row[1] for row in table.values()):5}  {max(row[2] for row in table.values()):6}")


async def differences(agent, failure):
    """The same questions for each: what is it, why did it fail, what held the memory?"""
    opened = await agent.ask("open", file=failure.file)
    why = await agent.ask("explain", file=failure.file)
    wrong = [f"open: {key} is {opened[key]}" for key, value in (("verdict", failure.facts["verdict"]),) if opened[key] != value or not opened["failed"]]
    wrong += [f"{key} is {why.get(key)}, not {value}" for key, value in failure.facts.items() if why.get(key) != value]
    if failure.facts["verdict"] == "unknown" and not why["how_to_know"]:
        wrong.append("how to know is missing")
    if failure.evidence not in " ".join(row["text"] for row in why.get("evidence", []) if isinstance(row, dict)):
        wrong.append(f"the evidence lacks {failure.evidence}: {why.get('evidence')}")
    if failure.advice not in " ".join(row["change"] for row in why.get("advice", []) if isinstance(row, dict)):
        wrong.append(f"the advice lacks {failure.advice}: {why.get('advice')}")
    if failure.holder:
        held = await agent.ask("holders", file=failure.file, at="first-oom")
        for rows in (why.get("holders"), held["holders"]):
            first = (rows[0].get("name", rows[0].get("held_by")), rows[0]["bytes"]) if rows else None
            if first != failure.holder:
                wrong.append(f"held by {first}, not {failure.holder}")
    return wrong


def main():
    global HBMSCOPE
    HBMSCOPE, python = os.path.abspath(sys.argv[1]), sys.argv[2]
    if not pathlib.Path(python).exists() or subprocess.run([python, "-c", "import mcp"], capture_output=True).returncode != 0:
        print(f"skipped: {python} does not have the package mcp (tests/agent/requirements.txt)")
        sys.exit(77)
    if pathlib.Path(sys.prefix) != pathlib.Path(python).absolute().parents[1]:
        os.execv(python, [python, *sys.argv])  # The client is in that Python, too.
    logging.disable(logging.WARNING)  # Of the client.
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])


if __name__ == "__main__":
    main()
