"""Looks now and then at the job's variables, and says which array is in which block of memory: its name, what it is for, and
who holds it. It runs on the job's threads, so it may take at most a hundredth of their time."""

import atexit
import sys
import time
import weakref

from . import calls, categories, jax_arrays, own_errors, roots, torch_graphs, torch_tensors, walk

SHARE_MAX = 0.01          # Of a core.
SECONDS_SAVED_MAX = 0.02  # That a job without looks saves for later ones. It begins with them.
# Of one look, and of one at a failure.
OBJECTS_MAX, SECONDS_MAX = 500_000, 0.05
OBJECTS_AT_A_FAILURE, SECONDS_AT_A_FAILURE = 5_000_000, 2.0
BLOCKS_LISTED_MAX = 100_000  # After an attach, once.
NEVER = 3600.0


def _is_watched():
    """A debugger, a profiler or a coverage tool would take us for the job's code."""
    if sys.getprofile() is not None or sys.gettrace() is not None:
        return True
    monitoring = getattr(sys, "monitoring", None)  # Since Python 3.12.
    return monitoring is not None and any(monitoring.get_tool(tool) is not None for tool in range(6))


class Agent:
    def __init__(self, addresses):
        self.calls = calls.Calls(addresses)
        self.looks = 0
        self._saved = SECONDS_SAVED_MAX  # Below 0: owed.
        self._counted = time.monotonic()
        self._next = 0.0
        self._hooks = []
        self._step_owner = None  # A reference to the optimizer whose steps are marked.
        self._graphs = None  # Since the first such step.
        self._awaited = None  # A reference to an array whose end is waited for.
        self._may_look_once = False
        self._said = {}
        self._is_over = False
        atexit.register(self._end)

    # Called by the collector, in the main thread between two instructions. Returns the seconds until the next look.
    def wake(self, is_failure):
        if self._is_over:
            return NEVER
        if _is_watched():
            return 1.0
        return self._guarded(lambda: self._wake(is_failure), NEVER)

    def _wake(self, is_failure):
        self._watch_optimizers()
        if is_failure or self._may_look_once or time.monotonic() >= self._next:
            self._look(is_failure)
        return min(max(self._next - time.monotonic(), 0.0), NEVER)

    # An error of ours ends the agent. One of the job's, raised by its signal handlers, goes on.
    def _guarded(self, call, otherwise):
        try:
            return call()
        except BaseException as error:
            if not own_errors.is_ours(error):
                raise
            self._say("agent", "stopped after an error of its own: %s: %s" % (type(error).__name__, error))
            self._is_over = True
            self.leave()
            return otherwise

    def _say(self, key, text):
        if self._said.get(key) != text:
            self._said[key] = text
            self.calls.fact(key, text)

    def _look(self, is_failure):
        if not self.calls.is_observed():
            self._next = time.monotonic() + 1
            return
        self._may_look_once = False
        began = time.perf_counter()
        frameworks = [framework for framework in (jax_arrays.find(), torch_tensors.find()) if framework is not None]
        for framework in frameworks:
            for package, version in framework.versions():
                self._say("version." + package, str(version))
        self._list_blocks(frameworks)
        for framework in frameworks:
            with framework.quiet():
                self.report(framework, is_failure)
        took = time.perf_counter() - began
        self.looks += 1
        now = time.monotonic()
        self._saved = min(self._saved + SHARE_MAX * (now - self._counted), SECONDS_SAVED_MAX) - took
        self._counted = now
        self._next = now + max(-self._saved, 0.0) / SHARE_MAX

    # After an attach: what was there before.
    def _list_blocks(self, frameworks):
        if not self.calls.wants_list():
            return
        with self.calls.list():
            for framework in frameworks:
                with framework.quiet():
                    for block in framework.blocks(BLOCKS_LISTED_MAX):
                        self.calls.block(*block)

    def report(self, framework, is_thorough):
        limits = (OBJECTS_AT_A_FAILURE, SECONDS_AT_A_FAILURE) if is_thorough else (OBJECTS_MAX, SECONDS_MAX)
        search = walk.Walk(framework, *limits)
        try:
            search.run(roots.find_roots())
            named = set()  # Several arrays may share their memory. The first name is the one of the outermost function.
            for found, category in zip(search.found, categories.categories_of(search.found)):
                for address in self._addresses_of(framework, found.leaf, is_thorough):
                    if address in named:
                        continue
                    named.add(address)
                    self.calls.attribute(address, "name", found.path)
                    self.calls.attribute(address, "held by", found.root.text)
                    if category:
                        self.calls.attribute(address, "category", category)
            if is_thorough and self._graphs is not None:
                self._report_graphs(framework, [found.leaf for found in search.found])
            self._wait_for(next((found.leaf for found in reversed(search.found) if framework.is_gone(found.leaf)), None))
            if search.is_cut:
                self._say("agent", "the job has too many objects to look at all, so some arrays have no name")
        finally:
            search.found.clear()  # An error that the job keeps has our variables.

    def _report_graphs(self, framework, leaves):
        for leaf, steps in zip(leaves, self._graphs.steps_of([framework.graph_of(leaf) for leaf in leaves])):
            for address in self._addresses_of(framework, leaf, True) if steps > 0 else ():
                self.calls.attribute(address, "autograd graph", "%d earlier step%s" % (steps, "" if steps == 1 else "s"))

    # Python makes the pending call when a function has returned, and before its result is assigned. Then a donated array is
    # gone, and the variable has it still. The array's end is the assignment, after which there is something to name.
    def _wait_for(self, array):
        def ask(_):
            self._may_look_once = True
            self.calls.ask()
        self._awaited = None if array is None else weakref.ref(array, ask)

    @staticmethod
    def _addresses_of(framework, leaf, is_thorough):
        return own_errors.answer(lambda: list(framework.addresses_of(leaf, is_thorough)), ())

    # PyTorch's steps, after which gradients and the optimizer's state are there.
    def _watch_optimizers(self):
        module = sys.modules.get("torch.optim.optimizer")
        register = getattr(module, "register_optimizer_step_post_hook", None)
        if register is not None and not self._hooks:
            self._hooks.append(register(self._after_step))

    def _after_step(self, optimizer, args, kwargs):
        del args, kwargs
        if not self._is_over and not _is_watched() and self.calls.is_observed():
            self._guarded(lambda: self._note_step(optimizer), None)

    def _note_step(self, optimizer):
        owner = self._step_owner() if self._step_owner is not None else None
        if self._graphs is None:
            self._graphs = torch_graphs.Graphs(sys.modules["torch"])
        if owner is None:
            self._step_owner, owner = weakref.ref(optimizer), optimizer
        if owner is optimizer:
            self._graphs.note_step()
            self.calls.marker("step (%s)" % type(optimizer).__name__)
        if time.monotonic() >= self._next:
            self._look(False)

    def leave(self):
        """The observer has gone; another one may come."""
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()

    # At the interpreter's end, so that nothing of ours is left when it takes its modules apart.
    def _end(self):
        global current
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
    """Called once in a process. None: it can't run here."""
    global current
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        calls.Calls(addresses).fact("agent", "does not run in a Python without a GIL, so arrays have no names")
        return None
    current = Agent(addresses)
    return current
