"""Which errors are ours. The agent runs between two instructions of the job's main thread, so Python may deliver a
signal in the middle of it: what the job's handler raises then belongs to the job, and must reach it."""

import signal


def is_ours(error):
    """False if the error came from a signal handler of the job, or is none that a program catches (Ctrl-C)."""
    if not isinstance(error, Exception):
        return False
    handlers = set()
    for number in signal.valid_signals():
        handler = signal.getsignal(number)
        code = getattr(getattr(handler, "__func__", handler), "__code__", None)
        if code is not None:
            handlers.add(code)
    step = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code in handlers:
            return False
        step = step.tb_next
    return True
