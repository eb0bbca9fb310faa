#!/usr/bin/env python3
"""Stands in for slurmstepd: becomes a task, as slurmstepd's exec_task() does.

    stand_in_slurm.py TASK_PROLOG COMMAND...

The prolog runs as a child in a process group of its own, without standard input and standard error. Its lines
"export NAME=value" change the task's environment, "print TEXT" goes to the task's output, other lines are ignored. When it
has ended, its process group is killed; then this process becomes the command. (src/slurmd/slurmstepd/task.c in Slurm)
"""

import os
import signal
import sys


def main():
    prolog, *command = sys.argv[1:]
    environment = dict(os.environ, SLURM_TASK_PID=str(os.getpid()))
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writing, 1)
        os.close(0)
        os.close(2)
        os.closerange(3, 256)
        os.setpgid(0, 0)
        os.execve(prolog, [prolog], environment)
    os.close(writing)
    with os.fdopen(reading) as lines:
        for line in lines:
            word, _, rest = line.rstrip("\n").partition(" ")
            if word == "export":
                name, _, value = rest.partition("=")
                environment[name] = value
            elif word == "print":
                print(rest, flush=True)
    _, status = os.waitpid(child, 0)
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        pass
    if status != 0:
        sys.exit("the task prolog failed")
    os.execvpe(command[0], command, environment)


if __name__ == "__main__":
    main()
