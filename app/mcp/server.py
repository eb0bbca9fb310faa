#!/usr/bin/env python3
"""An MCP server over the commands of hbmscope: agents ask about a file, and each answer names the command that shows a person the same.

    server.py HBMSCOPE_PROGRAM [--allow-run] [--time-limit SECONDS] [--run-limit SECONDS] [--fleet-python PYTHON]

It speaks MCP on standard input and output. Files are only read. With --allow-run there is also the tool dry_run, which runs
a command that the agent chooses, on an emulated device. An answer has at most 1,500 tokens, estimated as characters / 4: long
lists end with "and N more", long texts are shortened, and figures stay exact.
"""

import argparse
import asyncio
import base64
import collections
import itertools
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from typing import Annotated, Literal

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "fleet"))  # Beside this folder, in the sources and installed.
from packages import why_not_imported
from words import bytes_text

try:
    try:
        from mcp.server.mcpserver import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError
    except ModuleNotFoundError:  # Version 1.
        from mcp.server.fastmcp import FastMCP as MCPServer
        from mcp.server.fastmcp.exceptions import ToolError
    from mcp.types import ImageContent, TextContent, ToolAnnotations
    from pydantic import Field
except ImportError as error:
    sys.exit(f"hbmscope: {why_not_imported('mcp', error)}")

CHARACTERS = 4 * 1500
COMMAND_CHARACTERS = 2000  # A longer command, of very long paths, is not repeated in the answer.
SENTENCE_CHARACTERS = 1000  # Of an error.
TEXT_LIMITS = (400, 240, 120, 60, 30)  # A text is shortened to the first, and to the next ones if the answer is still too long.

INSTRUCTIONS = """Answers about GPU and TPU memory, from what a job left behind: its log, a PyTorch snapshot, a JAX profile, a recording.
Begin with open, then explain if a request failed, and holders for the lines that held the memory. Figures are bytes and
exact; null is unknown, not 0. Show a person the command at the end of an answer."""

File = Annotated[str, Field(description="Path of a file, or of a folder with the files of one job")]
Time = Annotated[str | None, Field(description="start, end, peak, oom (the last failure), first-oom, seconds such as 12.5s, or #N: after N events")]
Top = Annotated[int, Field(ge=1, le=50, description="The largest so many")]


# Running the program.


class Program:
    """hbmscope, without a shell and standard input, with a time limit, and with its sentence if it refuses."""

    def __init__(self, path, limit_s, run_limit_s):
        self.path = path
        self.limits_s = {"run": run_limit_s}
        self.limit_s = limit_s
        known = shutil.which("hbmscope")
        self.name = "hbmscope" if known and os.path.realpath(known) == os.path.realpath(path) else path

    def command(self, *words):
        text = shlex.join([self.name, *words])
        return text if len(text) <= COMMAND_CHARACTERS else "The paths are too long to be repeated here."

    def version(self):
        printed = subprocess.run([self.path, "--version"], capture_output=True, text=True).stdout.split()
        return printed[1] if len(printed) > 1 else ""

    async def output(self, *words, folder=None):
        """What it printed."""
        limit_s = self.limits_s.get(words[0], self.limit_s)
        try:
            process = await asyncio.create_subprocess_exec(
                self.path, *words, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, cwd=folder, start_new_session=True
            )
        except (OSError, ValueError) as error:  # ValueError: a null character.
            raise ToolError(f"{self.path} can't be started: {error}")
        try:
            out, err = await asyncio.wait_for(process.communicate(), limit_s)
        except asyncio.TimeoutError:
            raise ToolError(f"hbmscope {words[0]} was stopped after {limit_s:g} seconds, the time limit of this server. Without a limit: {self.command(*words)}")
        finally:
            await end(process)
        # A dry run has the exit code of its job; what it couldn't do itself is its answer.
        if (not out) if words[0] == "run" else process.returncode != 0:
            raise ToolError(self.sentence(words[0], process.returncode, err.decode(errors="replace")))
        return out

    async def answer(self, command, *words, folder=None):
        out = await self.output(command, "--json", *words, folder=folder)
        try:
            found = json.loads(out)
        except ValueError:
            raise ToolError(f"hbmscope {command} printed no JSON. Is {self.path} the right program?")
        if set(found) == {"schema", "error"}:
            raise ToolError(f"{found['error']['what']}. {found['error']['remedy']}"[:SENTENCE_CHARACTERS])
        return found

    async def brief(self, *words, shown=None, folder=None):
        """What the command shortens itself, with the command that shows it to a person: `shown`, if it isn't this one."""
        command = self.command(*(shown or words))
        found = await self.answer(words[0], f"--brief={CHARACTERS - len(command) - 100}", *words[1:], folder=folder)
        return {key: value for key, value in found.items() if key not in ("schema", "files")} | {"command": command}

    def sentence(self, command, code, err):
        lines = [line.strip() for line in err.splitlines() if line.strip()]
        said = " ".join(lines[-1:] if command == "run" else lines)  # Before it are the preparations of a dry run, and the job's output.
        if code < 0:
            said = f"hbmscope {command} was ended by {signal.Signals(-code).name}. {said}"
        return shortened(said or f"hbmscope {command} ended with exit code {code} and said nothing.", SENTENCE_CHARACTERS)


async def end(process):
    """A process that still runs, and all that it started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.returncode is not None:
            return
        try:
            os.killpg(process.pid, number)
            await asyncio.wait_for(process.wait(), 5)
        except (ProcessLookupError, asyncio.TimeoutError):
            pass


def absolute(file):
    """So that no name is an option, standard input, or a job on another machine."""
    return os.path.abspath(os.path.expanduser(file))


def options(**values):
    """at="peak" is "--at=peak": a value can't become an option of its own."""
    return [f"--{name.replace('_', '-')}={value}" for name, value in values.items() if value is not None]


def answers_of(program):
    """The answers that it can name, in lines: "ranks: The processes of a job, the worst first". Nothing if it is no hbmscope, as each tool will say."""
    try:
        return subprocess.run([program.path, "mcp", "--answers"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=program.limit_s).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


# Answers of a bounded size.


def shortened(text, limit):
    """The beginning and the end: of a path the name, of a sentence its subject."""
    if len(text) <= limit:
        return text
    head = limit // 3
    return text[:head] + " ... " + text[len(text) - (limit - head - 5) :]


def with_texts_of(value, limit):
    if isinstance(value, str):
        return shortened(value, limit)
    if isinstance(value, list):
        return [with_texts_of(one, limit) for one in value]
    return {key: one if key == "command" else with_texts_of(one, limit) for key, one in value.items()} if isinstance(value, dict) else value


def text_of(answer):
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))


class Rows(list):
    """A list that may be cut; it knows how many there were."""

    def __init__(self, rows, total=None):
        super().__init__(rows)
        self.total = max(total or 0, len(self))

    def cut(self):
        return list(self) + ([f"and {self.total - len(self):,} more"] if self.total > len(self) else [])


def bounded(answer):
    """As JSON, with the longest list cut until it fits; then with shorter texts."""
    for limit in TEXT_LIMITS:
        rows = {key: Rows(with_texts_of(list(value), limit), value.total) for key, value in answer.items() if isinstance(value, Rows)}
        rest = with_texts_of({key: value for key, value in answer.items() if key not in rows}, limit)
        while True:
            text = text_of({key: rows[key].cut() if key in rows else rest[key] for key in answer})
            longest = max(rows.values(), key=lambda one: len(text_of(one)), default=[])
            if len(text) <= CHARACTERS:
                return text
            if len(longest) <= 3:
                break
            del longest[max(3, len(longest) * 3 // 4) :]
    raise ToolError(f"The answer is too long. Run the command yourself: {answer['command']}")


def size(count):
    """As hbmscope writes it; null stays null."""
    return None if count is None else bytes_text(count)


def chosen(row, *keys):
    """These keys, without those that are unknown."""
    return {key: row[key] for key in keys if row.get(key) not in (None, [], {})}


def site(row):
    """A line of your code, as explain writes it."""
    name = row.get("name") or row.get("function")
    if not name:
        if row.get("thread"):
            return f"({row['thread']} thread)"
        return "(library code only)" if row.get("has_stack", True) else "(no stack was recorded)"
    place = f"{row['file'].rsplit('/', 1)[-1]}:{row['line']}" if row.get("file") and row.get("line") else row.get("file")
    return f"{name}  {place}" if place else name


# What the JSON of the commands says, in the words of the answers.


def heap_row(heap):
    return chosen(heap, "name", "device", "layer", "in_use_bytes", "peak_in_use_bytes", "pool_bytes", "free_bytes", "largest_free_bytes", "file")


def sentence_of(failure):
    return failure.get("sentence") or f"Out of memory: requested {size(failure['asked_bytes'])}."


def holder_rows(failure):
    return [{"held_by": row["name"], "bytes": row["bytes"], "size": size(row["bytes"]), "blocks": row["blocks"], "share": round(row["share"], 3)} for row in failure.get("holders") or []]


def opened(found, command):
    failures = found.get("failures", [])
    rows = sorted(found.get("heaps", []), key=lambda heap: -(heap["peak_in_use_bytes"] or 0))
    return {
        "summary": found["headline"],
        "kind": found["format"],
        "made_by": found["producer"],
        "failed": len(failures),
        "first_failure": sentence_of(failures[0]) if failures else None,
        "verdict": failures[0].get("verdict") if failures else None,
        "dry_run": found.get("dry_run"),
        "time": found["moment"]["name"] if "moment" in found else None,
        "heaps": Rows([heap_row(heap) for heap in rows[:8]], len(rows)),
        "largest": Rows([{"held_by": site(row), "bytes": row["bytes"]} for row in found.get("own_code", [])[:3]]),
        "job_warnings": Rows([warning["text"] for warning in found.get("job_warnings", [])]),
        "notes": Rows(found.get("notes", [])),
        "import_problems": Rows([chosen(row, "name", "severity", "count", "remedy") for row in found.get("import", []) if row["severity"] in ("warning", "loss")]),
        "command": command,
    }


def explained(found):
    """Explains the chosen failure in full, and the others in a sentence each."""
    command = found.pop("command")
    failure = next(iter(found.get("failures", [])), {})
    others = collections.Counter(row["sentence"] if isinstance(row, dict) else row for row in found.get("other_failures", []))
    answer = {key: value for key, value in found.items() if key not in ("failures", "other_failures")} | failure
    if others:
        answer["other_failures"] = [f"{sentence} ({count} times)" if count > 1 else sentence for sentence, count in others.most_common()]
    return text_of(answer | {"command": command})


def held(found, at, top, command):
    lines = found.get("own_code", [])
    rows = [{"held_by": site(row), "bytes": row["bytes"], "size": size(row["bytes"]), "blocks": row["count"]} for row in lines]
    held_by = "line"
    failures = found.get("failures", [])
    if failures and at in (None, "oom", "first-oom") and not any(row["name"] for row in lines):
        # Without stacks: by category, tag or size, as explain has it.
        failure = failures[-1 if at == "oom" else 0]
        if failure.get("holders"):
            rows, held_by = holder_rows(failure), failure["holders_by"]
    total = sum(row["bytes"] for row in found["by_device"])
    rows = [row | {"share": round(row["bytes"] / total, 3)} if total else row for row in rows]
    return {
        "time": found["moment"]["name"] if "moment" in found else None,
        "in_use_bytes": total,
        "in_use": size(total),
        "by": held_by,
        "holders": Rows(rows[:top], len(rows)),
        "arrays": Rows([chosen(row, "name", "held_by", "category", "bytes", "blocks") for row in found.get("holders", [])[:top]], len(found.get("holders", []))),
        "categories": Rows([chosen(row, "category", "bytes", "blocks") for row in found.get("categories", [])]),
        "heaps": Rows([heap_row(heap) for heap in found.get("heaps", [])[:8]], len(found.get("heaps", []))),
        "command": command,
    }


def surveyed(found, top, command):
    lists = ("hosts", "stages", "outliers", "failures", "changes", "unread")
    return {
        "run": found["run"],
        "baseline": found["baseline"],
        "runs": Rows(found["runs"][:5], len(found["runs"])),
        **(found["processes"][0] if found["processes"] else {}),
        **{name: Rows([{key: value for key, value in row.items() if key not in ("id", "peers")} for row in found[name][:top]], len(found[name])) for name in lists if name in found},
        "waste": found["waste"][0] if found["waste"] else None,
        "command": command,
    }


# The tools.


class Server(MCPServer):
    async def call_tool(self, name, arguments, *context):
        """An argument that a tool doesn't have would be ignored, and one that is missing refused in words about Python's types."""
        for tool in await self.list_tools():
            if tool.name != name:
                continue
            schema = getattr(tool, "inputSchema", None) or tool.input_schema
            known = list(schema["properties"])
            unknown, missing = [each for each in arguments if each not in known], [each for each in schema.get("required", []) if each not in arguments]
            if unknown or missing:
                what = f"has no argument {', '.join(unknown)}" if unknown else f"needs {' and '.join(missing)}"
                raise ToolError(f"The tool {name} {what}. Its arguments are {', '.join(known)}.")
        return await super().call_tool(name, arguments, *context)


def make_server(program, allow_run, fleet_python):
    server = Server("hbmscope", instructions=INSTRUCTIONS, log_level="WARNING")
    low_level = getattr(server, "_lowlevel_server", None) or getattr(server, "_mcp_server", None)
    if low_level is not None:  # Otherwise it would say the version of the package mcp.
        low_level.version = program.version()

    def tool(name, **hints):
        # An answer is text alone: as structured content, too, it would count twice.
        return server.tool(name=name, structured_output=False, annotations=ToolAnnotations(readOnlyHint=not hints, openWorldHint=False, **hints))

    @tool("open")
    async def open_file(file: File) -> str:
        """What a file is: a sentence, its kind, its heaps, and whether a request for memory failed. Begin here."""
        words = ["report", absolute(file)]
        return bounded(opened(await program.answer(*words, "--top=1"), program.command(*words)))

    @tool("explain")
    async def explain(file: File, failure: Annotated[Literal["first", "last"], Field(description="Which failed request")] = "first") -> str:
        """Why a request for memory failed: the verdict, its evidence, what would help, and how each advice was proved.

        proof: "replayed" means that all requests up to the one that failed were played with this change, and fits says
        whether they are served; "computed" follows from the figures; "rule" may not be enough.
        """
        words = ["explain", absolute(file), *options(failure=None if failure == "first" else failure)]
        return explained(await program.brief(*words))

    @tool("holders")
    async def holders(file: File, at: Time = None, top: Top = 10) -> str:
        """What held the memory at a time, by line of your code, the largest first. Without a time: at the first failure, or at the end."""
        words = ["report", absolute(file), *options(at=at, own=top)]
        return bounded(held(await program.answer("report", absolute(file), *options(at=at, own=0, top=1)), at, top, program.command(*words)))

    @tool("table")
    async def table(
        file: File,
        what: Annotated[list[str], Field(min_length=1, description="Names of:\n" + answers_of(program))],
        at: Time = None,
        top: Top = 10,
        where: Annotated[str | None, Field(description="A filter, e.g. size>1MiB or own=train.py")] = None,
    ) -> str:
        """Any other answer about a file, by name."""
        words = ["report", absolute(file), *(f"--only={one}" for one in what), *options(at=at, top=top, where=where)]
        command = program.command(*words)
        found = await program.answer(*words, f"--brief={CHARACTERS - len(command) - 100}")
        return text_of({key: value for key, value in found.items() if key != "schema"} | {"command": command})

    @tool("diff")
    async def diff(baseline: File, now: Annotated[str | None, Field(description="The later file; without it, two times of the first one: from_time and at")] = None, from_time: Time = None, at: Time = None, top: Top = 10) -> str:
        """What changed between two files, or between two times of one: totals, settings, and the lines that grew or shrank."""
        words = ["diff", absolute(baseline), *([absolute(now)] if now else []), *options(**{"from": from_time}, at=at, top=top)]
        return text_of(await program.brief(*words))

    @tool("savings")
    async def savings(file: File, by: Literal["line", "function", "category", "tag"] = "line", lower_by: Annotated[str | None, Field(description="Also find the smallest set that lowers the peak by this much, e.g. 2GiB")] = None, top: Top = 10) -> str:
        """What would lower the peak: for each line of your code, the next peak without its allocations. Needs a file with a history."""
        words = ["savings", absolute(file), *options(by=by, lower_by=lower_by, top=top)]
        return text_of(await program.brief(*words))

    @tool("whatif")
    async def whatif(
        file: File,
        settings: Annotated[list[str] | None, Field(description="Settings to try, e.g. XLA_CLIENT_MEM_FRACTION=.9, allocator=NAME, device=h200, free=train.py:48; default: the usual ones")] = None,
        device: Annotated[str | None, Field(description="The GPU that the job had, if the file does not say, e.g. h100")] = None,
        device_bytes: Annotated[str | None, Field(description="The memory of that GPU instead of its name, e.g. 80GiB")] = None,
    ) -> str:
        """Which settings make it fit: the recorded requests are replayed under each of them."""
        words = ["whatif", absolute(file), *options(device=device, device_bytes=device_bytes), *(f"--try={one}" for one in settings or [])]
        return text_of(await program.brief(*words))

    @tool("fleet")
    async def fleet(store: Annotated[str, Field(description="A folder made by hbmscope digest")], run: str | None = None, baseline: Annotated[str | None, Field(description="Another run, to say what changed")] = None, top: Top = 10) -> str:
        """Thousands of processes: which ones are unlike their peers and at which line, and which failed first."""
        words = ["fleet", absolute(store), *options(run=run, baseline=baseline, python=fleet_python)]
        return bounded(surveyed(await program.answer(*words), top, program.command(*words)))

    @tool("picture")
    async def picture(file: File, at: Time = None, view: Annotated[str | None, Field(description="heap-map, timeline, failure, fragmentation, flame, blocks, ...")] = None, width: Annotated[int, Field(ge=400, le=1200)] = 1200, height: Annotated[int, Field(ge=300, le=800)] = 800) -> list[ImageContent | TextContent]:
        """A picture of the window, as PNG."""
        words = ["open", absolute(file), *options(at=at, view=view)]
        with tempfile.TemporaryDirectory() as folder:
            png = pathlib.Path(folder) / "window.png"
            await program.output(*words, *options(size=f"{width}x{height}", screenshot=png))
            if not png.exists():
                raise ToolError("hbmscope wrote no picture. Was it built without a window?")
            data = base64.b64encode(png.read_bytes()).decode()
        return [ImageContent(type="image", data=data, mimeType="image/png"), TextContent(type="text", text=bounded({"command": program.command(*words)}))]

    if allow_run:
        recordings = tempfile.TemporaryDirectory(prefix="hbmscope_dry_runs_")
        server.recordings = recordings  # Removed with the server.
        run_numbers = itertools.count()

        @tool("dry_run", destructiveHint=True)
        async def dry_run(
            device: Annotated[str, Field(description="One emulated device, e.g. h100, h100:8, a100-40 or v5e:2x4")],
            command: Annotated[list[str], Field(min_length=1, description="The program and its arguments, e.g. [\"python\", \"train.py\"]; no shell")],
            folder: Annotated[str | None, Field(description="The folder to run it in")] = None,
            device_bytes: Annotated[str | None, Field(description="Another size of the device's memory, e.g. 40GiB")] = None,
        ) -> str:
            """Runs a command on an emulated GPU or TPU and says whether it fits. The command really runs; kernels do nothing.

            The recording in the answer can be opened by the other tools until the server ends.
            """
            if "," in device:
                raise ToolError("One device at a time, please: a list of devices is a sweep.")
            recording = os.path.join(recordings.name, f"run_{next(run_numbers)}.hbm")
            words = options(emulate=device, device_bytes=device_bytes)
            shown = ["run", *words, "--", *command]
            return text_of(await program.brief("run", *words, "--no-flight", f"--record={recording}", "--", *command, shown=shown, folder=folder and absolute(folder)))

    return server


def main():
    parser = argparse.ArgumentParser(description="An MCP server over the commands of hbmscope, on standard input and output.")
    parser.add_argument("program", metavar="HBMSCOPE_PROGRAM")
    parser.add_argument("--allow-run", action="store_true", help="also offer dry_run, which runs commands of the agent's choice")
    parser.add_argument("--time-limit", type=float, default=60, metavar="SECONDS", help="of each command; default 60")
    parser.add_argument("--run-limit", type=float, default=1800, metavar="SECONDS", help="of a dry run; default 1800")
    parser.add_argument("--fleet-python", metavar="PYTHON", help="a Python that has DuckDB, for fleet")
    words = parser.parse_args()
    program = shutil.which(os.path.expanduser(words.program))
    if not program:
        parser.error(f"there is no program {words.program}")
    if sys.stdin.isatty():
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # Nobody is connected but a person.
        print("hbmscope mcp: waits for an agent on standard input; Ctrl+C ends it", file=sys.stderr)
    make_server(Program(os.path.abspath(program), words.time_limit, words.run_limit), words.allow_run, words.fleet_python and absolute(words.fleet_python)).run()


if __name__ == "__main__":
    main()
