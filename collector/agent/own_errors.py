"""Which errors are ours. The agent runs between two instructions of the job's main thread, so Python may deliver a signal in
the middle of it: what the job's handler raises then belongs to the job, and must reach it."""

# Whose code the agent calls. PyTorch's loader of data has a signal handler that raises.
_CALLED = ("_hbmscope_", "contextlib", "jax.", "jaxlib.", "torch.")
_NOT_CALLED = ("torch.utils.data",)


def is_ours(error):
    """False if code that the agent doesn't call took part, or if programs don't catch such an error (Ctrl-C)."""
    if not isinstance(error, Exception):
        return False
    step = error.__traceback__
    while step is not None:
        name = step.tb_frame.f_globals.get("__name__")
        if type(name) is not str or not (name + ".").startswith(_CALLED) or name.startswith(_NOT_CALLED):
            return False
        step = step.tb_next
    return True


def answer(ask, otherwise):
    """What `ask` returns. An array may refuse: donated or freed by another thread meanwhile, without memory of its own, or a
    view of what was changed in place, which autograd has no graph of. Then `otherwise`."""
    try:
        return ask()
    except BaseException as error:
        if not is_ours(error):
            raise
        return otherwise
