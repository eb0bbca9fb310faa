"""Looks now and then at the job's variables, and says which array is in which block of memory: its name, what it is for, and
who holds it. It runs on the job's threads, so it may take at most a hundredth of their time."""

import atexit
import sys
import time
import weakref

from . import calls, categories, jax_arrays, own_errors, roots, torch_tensors, walk

SHARE_MAX = 0.01         # Of a core, since the start.
SECONDS_AT_FIRST = 0.02  # In addition, so that the first steps have names, too.
OBJECTS_MAX = 200_000    # In one look, which then takes about 0.2 s.
OBJECTS_AT_A_FAILURE = 2_000_000


class Agent:
    def __init__(self, addresses):
        self.calls = calls.Calls(addresses)
        self.seconds = 0.0  # In all looks.
        self.looks = 0
        self._next = 0.0
        self._began = time.monotonic()
        self._hooks = []
        self._step_owner = None
        self._awaited = None  # A reference to an array whose end is waited for.
        self._said = {}
        self._is_over = False
        atexit.register(self._end)

    # Called by the collector, in the main thread between two instructions. Returns the seconds until the next look.
    def wake(self, is_failure):
        if self._is_over:
            return 3600.0
        try:
            self._watch_optimizers()
            now = time.monotonic()
            if is_failure or now >= self._next:
                self._look(is_failure)
            return max(self._next - time.monotonic(), 0.0)
        except BaseException as error:
            if not own_errors.is_ours(error):
                raise
            self._give_up(error)
            return 3600.0

    def _give_up(self, error):
        self._next = float("inf")
        self._say("agent", "stopped after an error of its own: %s: %s" % (type(error).__name__, error))

    def _say(self, key, text):
        if self._said.get(key) != text:
            self._said[key] = text
            self.calls.fact(key, text)

    def _look(self, is_failure):
        # A debugger, a profiler or a coverage tool would record us as the job's code.
        if sys.getprofile() is not None or sys.gettrace() is not None or not self.calls.is_observed():
            self._next = time.monotonic() + 1
            return
        began = time.perf_counter()
        for framework in (jax_arrays.find(), torch_tensors.find()):
            if framework is not None:
                with framework.quiet():
                    self.report(framework, is_failure)
        took = time.perf_counter() - began
        self.seconds += took
        self.looks += 1
        now = time.monotonic()
        may_take = SECONDS_AT_FIRST + SHARE_MAX * (now - self._began) - self.seconds
        self._next = now + max(took - may_take, 0.0) / SHARE_MAX

    def report(self, framework, is_thorough):
        search = walk.Walk(framework, OBJECTS_AT_A_FAILURE if is_thorough else OBJECTS_MAX)
        search.run(roots.find_roots())
        for found, category in zip(search.found, categories.categories_of(search.found)):
            for address in self._addresses_of(framework, found.leaf, is_thorough):
                self.calls.attribute(address, "name", found.path)
                self.calls.attribute(address, "held by", found.root.text)
                if category:
                    self.calls.attribute(address, "category", category)
        self._wait_for(next((found.leaf for found in reversed(search.found) if framework.is_gone(found.leaf)), None))
        if search.is_cut:
            self._say("agent", "names the arrays among the first %d objects; the job has more" % OBJECTS_MAX)

    # Python calls between the end of a donating call and the assignment of its results, when the results have no names. The
    # old array ends with the assignment.
    def _wait_for(self, array):
        def ask(_):
            self._next = 0.0
            self.calls.ask()
        self._awaited = None if array is None else weakref.ref(array, ask)

    @staticmethod
    def _addresses_of(framework, leaf, is_thorough):
        try:
            return list(framework.addresses_of(leaf, is_thorough))
        except BaseException as error:
            if not own_errors.is_ours(error):
                raise
            return ()  # Donated or freed by another thread meanwhile, or an array without memory of its own.

    # PyTorch's steps, and what its optimizer updates, which has just been used.
    def _watch_optimizers(self):
        module = sys.modules.get("torch.optim.optimizer")
        register = getattr(module, "register_optimizer_step_post_hook", None)
        if register is not None and not self._hooks:
            self._hooks.append(register(self._after_step))

    def _after_step(self, optimizer, args, kwargs):
        del args, kwargs
        if not self.calls.is_observed():
            return
        try:
            if self._step_owner is None:
                self._step_owner = id(optimizer)
            if self._step_owner == id(optimizer):
                self.calls.marker("step (%s)" % type(optimizer).__name__)
            if time.monotonic() >= self._next:
                self._look(False)
        except BaseException as error:
            if not own_errors.is_ours(error):
                raise
            self._give_up(error)

    def leave(self):
        """The observer has gone; another one may come."""
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()

    # At the interpreter's end, so that nothing of ours is left when it takes its modules apart.
    def _end(self):
        global current
        if self._is_over:
            return
        self._is_over = True
        self._awaited = None
        atexit.unregister(self._end)
        self.leave()
        self.calls.end()
        current = None
        for name in [name for name in sys.modules if name.startswith("_hbmscope_")]:
            del sys.modules[name]


current = None


def start(addresses):
    """Called by the collector, once in a process."""
    global current
    current = Agent(addresses)


def wake(is_failure):
    return current.wake(is_failure)


def leave():
    current.leave()
