"""Runs the small programs of a matrix one by one."""

import sys


def run_programs(programs, check_account):
    """Runs those that the command line names, or all; prints a line for each: "passed" or the error."""
    failed = 0
    for program in programs:
        if sys.argv[1:] and program.__name__ not in sys.argv[1:]:
            continue
        try:
            program()
            check_account()
            print(f"{program.__name__}: passed", flush=True)
        except Exception as error:
            failed += 1
            print(f"{program.__name__}: {type(error).__name__}: {(str(error).splitlines() or [''])[0][:200]}", flush=True)
    print("the end: passed", flush=True)
    sys.exit(failed > 0)
