"""Checks of what hbmscope does to jobs: their speed, their profilers, and what happens to them when it comes and goes."""

import subprocess
import threading
import time

from machine import JOBS, Missed, NotJudged, last_object, last_words
from verdict import Check

# How many times slower launches may become. The emulated device's launches cost nothing, so there any cost of hbmscope weighs more, and the machine is shared.
SLOWER_MAX = {"interpose": 1.03, "cupti": 1.15}
SLOWER_MAX_PRETENDED = 1.35
ROUNDS = 2
ATTACHES, ATTACHED_S = 5, 2
WINDOWS, WINDOW_S = 3, 1.5  # The best of these is a job's speed.
SPEED_LEAST, SPEED_LEAST_PRETENDED = 0.97, 0.8


def overhead(back_end):
    def run(machine, figures, is_planted):
        command = [machine.python("torch"), JOBS / "launches.py"]
        best = {"alone": 0, "observed": 0}
        for number in range(ROUNDS):
            for kind in best:
                extra = {"JUDGE_PLANT": "1"} if is_planted and kind == "observed" else None
                name = f"overhead_{back_end}_{number}"
                job, done, _ = machine.run_job(name, command, options=["--no-flight", "--backend", back_end], observed=kind == "observed", extra=extra)
                best[kind] = max(best[kind], job["launches_per_second"])
                if kind == "observed" and back_end == "cupti" and not machine.pretend:
                    figures.true("CUPTI reports", "recorded with CUPTI (" in done.errors and "by interposition" not in done.errors)
        most = SLOWER_MAX_PRETENDED if machine.pretend else SLOWER_MAX[back_end]
        figures.at_most(f"{best['alone']:.0f} launches a second alone, {best['observed']:.0f} observed: times slower", best["alone"] / best["observed"], most)

    return run


def profiler(framework):
    def run(machine, figures, is_planted):
        command = [machine.python(framework), JOBS / "profiled.py", framework]
        alone, _, _ = machine.run_job(f"profiler_{framework}", command, observed=False)
        observed, _, _ = machine.run_job(f"profiler_{framework}", command)
        figures.at_least("kernels alone", alone["kernels"], 10)
        figures.equal("kernels with hbmscope", observed["kernels"], alone["kernels"])

    return run


class Steps:
    """The steps that a running job has reported: (time, how many)."""

    def __init__(self, stream):
        self.seen = []
        threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def _read(self, stream):
        for line in stream:
            if line.startswith("{"):
                one = last_object(line)
                self.seen.append((one["at"], one["steps"]))

    def per_second(self, seconds):
        """Over the next seconds."""
        begun = len(self.seen)
        time.sleep(seconds)
        seen = self.seen[max(0, begun - 1) :]
        return (seen[-1][1] - seen[0][1]) / (seen[-1][0] - seen[0][0]) if len(seen) > 1 else 0


def attach(machine, figures, is_planted):
    framework = "torch"
    try:
        python = machine.python(framework)
    except NotJudged:
        framework = "jax"
        python = machine.python(framework)
    # Steps on the emulated device take no time but the processor's, which others use too.
    environment = machine.environment({"XLA_PYTHON_CLIENT_PREALLOCATE": "false", **({"JUDGE_PAUSE": "0.004"} if machine.pretend else {})})
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    job = machine.processes.start([python, JOBS / "training.py", framework], environment, **streams)
    is_ended = False
    try:
        steps = Steps(job.stdout)
        begun = time.monotonic()
        while not steps.seen and job.poll() is None and time.monotonic() - begun < 60:
            time.sleep(0.05)
        if not steps.seen:
            raise Missed("the job makes no steps")
        codes, seen = [], []
        before = max(steps.per_second(WINDOW_S) for _ in range(WINDOWS))
        for turn in range(ATTACHES):
            recording = machine.folder / f"attach_{turn}.hbm"
            words = ["attach", job.pid, "--for", f"{ATTACHED_S}s", "--no-window", "--no-flight", "--record", recording, *(["--no-cupti"] if turn == ATTACHES - 1 else [])]
            done = machine.processes.run([machine.hbmscope, *words], machine.environment(), 60)
            codes.append(done.code)
            if done.code != 0:
                figures.equal(f"attach {turn + 1} ({last_words(done.errors)}): exit code", done.code, 0)
            if recording.exists():
                seen.append(machine.read("report", recording)["events"]["alloc"])
                machine.recordings[f"attach_{turn}"] = recording
            if is_planted and turn == 1:
                job.kill()
            if job.poll() is not None:
                break
        figures.equal("times attached", len([code for code in codes if code == 0]), ATTACHES)
        figures.equal("recordings", len(seen), ATTACHES)
        figures.at_least("allocations seen, at least", min(seen, default=0), 10)
        figures.true("the job is alive", job.poll() is None, "" if job.poll() is None else f"no: its exit code is {job.returncode}")
        if job.poll() is None:
            after = max(steps.per_second(WINDOW_S) for _ in range(WINDOWS))
            least = SPEED_LEAST_PRETENDED if machine.pretend else SPEED_LEAST
            figures.at_least(f"{before:.0f} steps a second before, {after:.0f} afterwards: share", after / before, least)
            job.stdin.close()
            job.wait(30)
            figures.equal("exit code of the job", job.returncode, 0)
        is_ended = job.poll() is not None
    except subprocess.TimeoutExpired:
        raise Missed("the job does not end") from None
    finally:
        machine.processes.finish(job, is_ended)


CHECKS = [
    *(Check(f"overhead_{one}", f"launches of a small kernel, best of {ROUNDS} x 5, alone", f"at most {SLOWER_MAX[one]} times slower (emulated: {SLOWER_MAX_PRETENDED})", "the observed job shares its interpreter with a busy thread", overhead(one)) for one in SLOWER_MAX),
    *(Check(f"profiler_{one}", "kernels that the framework's own profiler sees, alone", "equal", "", profiler(one)) for one in ("torch", "jax")),
    Check("attach", f"a training loop, attached to {ATTACHES} times", f"it lives; steps a second afterwards at least {SPEED_LEAST:.0%} (emulated: {SPEED_LEAST_PRETENDED:.0%})", "the job is killed while hbmscope comes and goes", attach),
]
