#!/usr/bin/env python3
"""The agent (collector/agent) by itself: what it finds, and that the job doesn't notice it. JAX and the collector are stood
in for here; tests/real has the real ones.

    agent_test.py        with any Python since 3.9
"""

import collections
import contextlib
import cProfile
import ctypes
import functools
import gc
import pathlib
import re
import signal
import sys
import time
import types
import unittest
import unittest.mock
import weakref

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "collector" / "agent"


class Array:
    """As JAX's, as far as the agent looks."""

    def __init__(self, address, shape=(2,), parts=1):
        self.address, self.shape, self.is_donated = address, shape, False
        self.sharding = types.SimpleNamespace(addressable_devices=range(parts))

    def is_deleted(self):
        return self.is_donated

    def unsafe_buffer_pointer(self):
        return self.address

    def addressable_data(self, part):
        return Array(self.address + part)


def files():
    text = (FOLDER.parent / "inject" / "CMakeLists.txt").read_text()
    names = re.search(r"set\(HBMSCOPE_AGENT_FILES ([\w ]+)\)", text).group(1).split()
    return "".join("#: %s\n%s" % (name, (FOLDER / (name + ".py")).read_text()) for name in names)


class Collector:
    """What the agent calls."""

    def __init__(self):
        self.said, self.facts, self.markers, self.asked = collections.defaultdict(dict), {}, [], 0
        self.wants_list, self.listed = 0, []
        kinds = ctypes.CFUNCTYPE
        text = ctypes.c_char_p
        self.functions = [
            kinds(ctypes.c_int)(lambda: 1),
            kinds(None, ctypes.c_uint64, text, text)(self.attribute),
            kinds(None, text, ctypes.c_int)(lambda name, phase: self.markers.append((name.decode(), phase))),
            kinds(None, text, text)(lambda key, value: self.facts.update({key.decode(): value.decode()})),
            kinds(None)(self.ask),
            kinds(None)(lambda: None),
            kinds(ctypes.c_int)(lambda: self.wants_list),
            kinds(None, ctypes.c_int)(self.list),
            kinds(None, ctypes.c_uint, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64)(lambda *block: self.listed.append(block))]
        self.addresses = [ctypes.cast(function, ctypes.c_void_p).value for function in self.functions]

    def attribute(self, address, key, value):
        self.said[address][key.decode()] = value.decode()

    def ask(self):
        self.asked += 1

    def list(self, begins):
        self.listed.append("begins" if begins else "ends")
        self.wants_list = self.wants_list and begins


class AgentTest(unittest.TestCase):
    def setUp(self):
        sys.modules["jax._src.array"] = types.SimpleNamespace(ArrayImpl=Array)
        self.collector = Collector()
        loader = {"__name__": "_hbmscope_loader"}
        exec(compile((FOLDER / "loader.py").read_text(), "<hbmscope loader>", "exec"), loader)
        self.agent = loader["load"](files(), self.collector.addresses)

    def tearDown(self):
        self.agent._end()
        del sys.modules["jax._src.array"]

    def look(self):
        self.agent._next = 0
        return self.agent.wake(0)

    def names(self):
        return {address: facts["name"] for address, facts in self.collector.said.items()}

    def test_what_variables_hold_is_named_by_its_shortest_path(self):
        Pair = collections.namedtuple("Pair", "first second")

        class Layer:
            __slots__ = ("weight",)

        def closure(kept):
            return lambda: kept

        def generator(kept):
            yield 1
            print(kept)

        params = {"w": Array(1), "layers": [Array(2), Array(3)]}
        pair = Pair(Array(4), None)
        layer = Layer()
        layer.weight = Array(5)
        function, running = closure(Array(6)), generator(Array(7))
        next(running)
        ring = collections.deque([Array(8)])
        other = params["layers"]
        both = Array(9, parts=2)
        self.look()
        self.assertEqual(self.names(), {1: "params['w']", 2: "params['layers'][0]", 3: "params['layers'][1]",
                                        4: "pair.first", 5: "layer.weight", 6: "function<kept>", 7: "running<kept>",
                                        8: "ring[0]"} | {2: "other[0]", 3: "other[1]"})
        self.assertEqual(self.collector.said[1]["held by"], "local of test_what_variables_hold_is_named_by_its_shortest_path "
                                                            "(agent_test.py)")
        # An array of several devices is asked for its parts only at a failure.
        self.agent.wake(1)
        self.assertEqual({self.names()[9], self.names()[10]}, {"both"})
        del function, ring, other, both

    def test_categories_are_what_names_and_shapes_say(self):
        ScaleByAdamState = type("ScaleByAdamState", (tuple,), {"__module__": "optax._src.transform"})
        parameters = {"embedding": Array(1, (8, 4)), "w": Array(2, (4, 4))}
        moments = ({"embedding": Array(3, (8, 4)), "w": Array(4, (4, 4))},)
        teacher, mu = {"w": Array(10, (4, 4))}, Array(11)
        adam = ScaleByAdamState([Array(5)])
        grads = {"w": Array(6, (4, 4))}
        batch, thing, w = Array(7), Array(8), {"w": Array(9, (1,))}
        self.look()
        self.assertEqual({address: facts.get("category") for address, facts in self.collector.said.items()},
                         {1: "parameters", 2: "parameters", 3: "optimizer state", 4: "optimizer state", 5: "optimizer state",
                          6: "gradients", 7: "inputs", 8: None, 9: None, 10: None, 11: None})
        del parameters, moments, adam, grads, batch, thing, w, teacher, mu

    def test_no_code_of_the_job_runs(self):
        ran = []

        class Tricky(dict):
            def __getattr__(self, name):
                ran.append(name)

            def __getattribute__(self, name):
                ran.append(name)
                return object.__getattribute__(self, name)

            def __iter__(self):
                ran.append("iter")
                return iter(())

            def __eq__(self, other):
                ran.append("eq")

            def get(self, key):
                ran.append("get")

            __hash__ = None

        class Lazy:
            @property
            def __class__(self):
                ran.append("class")

            @property
            def cost(self):
                ran.append("property")

            def __bool__(self):
                ran.append("bool")

        tricky, lazy = Tricky(a=Array(1)), Lazy()
        lazy.kept = Array(2)
        ran.clear()
        self.look()
        self.assertEqual(ran, [])
        self.assertEqual(self.names(), {1: "tricky['a']", 2: "lazy.kept"})

    def test_nothing_lives_longer(self):
        gc.disable()
        try:
            def job():
                array = Array(1)
                dies = weakref.ref(array)
                self.look()
                array = None
                return dies()
            self.assertIsNone(job())
            self.assertEqual(self.names(), {1: "array"})
        finally:
            gc.enable()

    def test_results_of_a_donating_call_are_awaited(self):
        def job():
            params = Array(1)
            params.is_donated = True
            self.look()
            self.assertEqual((self.collector.asked, self.names()), (0, {}))
            params = Array(2)
            self.assertEqual(self.collector.asked, 1)
            self.agent.wake(0)
            return params
        job()
        self.assertEqual(self.names(), {2: "params"})

    def test_errors_of_the_jobs_signal_handlers_are_the_jobs(self):
        class Interrupts(Array):
            def unsafe_buffer_pointer(self):
                signal.raise_signal(signal.SIGUSR1)

        def handle(number, frame):
            raise TimeoutError("of the job")

        sys.modules["jax._src.array"].ArrayImpl = Interrupts
        array = Interrupts(1)
        class Handler:
            __call__ = staticmethod(handle)

        for handler in (handle, functools.partial(handle), Handler()):
            before = signal.signal(signal.SIGUSR1, handler)
            try:
                self.assertRaisesRegex(TimeoutError, "of the job", self.look)
            finally:
                signal.signal(signal.SIGUSR1, before)
        signal.signal(signal.SIGUSR1, signal.default_int_handler)
        try:
            self.assertRaises(KeyboardInterrupt, self.look)
        finally:
            signal.signal(signal.SIGUSR1, before)
        self.assertEqual(self.collector.facts, {})
        del array

    def test_its_own_errors_end_it_and_not_the_job(self):
        exec("def fails(): 1 // 0", {"__name__": "_hbmscope_agent.agent"}, vars(self.agent))
        self.agent._watch_optimizers = vars(self.agent)["fails"]
        array = Array(1)
        self.assertEqual(self.look(), 3600)
        self.assertIn("ZeroDivisionError", self.collector.facts["agent"])
        self.assertEqual(self.agent.wake(1), 3600)
        self.assertEqual(self.names(), {})
        del array

    def test_arrays_that_share_memory_have_the_name_of_the_outermost_function(self):
        params = {"w": Array(1)}

        def step(batch):
            self.look()
            return batch

        step(Array(1))
        self.assertEqual(self.collector.said[1]["name"], "params['w']")
        self.assertEqual(self.collector.said[1]["category"], "parameters")
        del params

    def torch(self, active=2, records_history=False):
        blocks = [{"state": "active_allocated", "size": 1024, "requested_size": 1000}, {"state": "inactive", "size": 512},
                  {"state": "active_pending_free", "size": 512}, {"state": "active_allocated", "size": 2048}]
        cuda = types.SimpleNamespace(
            is_initialized=lambda: True, device_count=lambda: 1, memory_stats=lambda device: {"active.all.current": active},
            memory_snapshot=lambda: [{"device": 3, "address": 4096, "blocks": blocks}])
        module = types.SimpleNamespace(
            cuda=cuda, Tensor=type("Tensor", (), {}), nn=types.SimpleNamespace(Module=type("Module", (), {})),
            optim=types.SimpleNamespace(Optimizer=type("Optimizer", (), {})),
            _C=types.SimpleNamespace(_cuda_isHistoryEnabled=lambda: records_history, DisableTorchFunction=contextlib.nullcontext))
        return unittest.mock.patch.dict(sys.modules, {"torch": module})

    def test_blocks_of_pytorch_from_before_an_attach_are_listed_once(self):
        with self.torch():
            self.look()
            self.assertEqual(self.collector.listed, [])
            self.collector.wants_list = 1
            self.look()
            self.look()
        unknown = (1 << 64) - 1
        self.assertEqual(self.collector.listed, ["begins", (3, 4096, 1024, 1000), (3, 4096 + 2048, 2048, unknown), "ends"])

    def test_neither_a_long_list_nor_one_with_the_jobs_history_is_asked_for(self):
        for settings in ({"active": 100_001}, {"records_history": True}):
            self.collector.wants_list, self.collector.listed = 1, []
            with self.torch(**settings):
                self.look()
            self.assertEqual(self.collector.listed, ["begins", "ends"])

    def test_functions_that_read_their_own_variables_are_left_alone(self):
        def job():
            first = Array(1)
            mine = locals()
            second = Array(2)
            self.look()
            return sorted(mine), first, second

        def evaluates(model):
            third = Array(3)
            model.eval = 1
            self.look()
            return third

        evaluates(types.SimpleNamespace())
        self.assertEqual(self.names(), {3: "third"})
        self.collector.said.clear()
        self.assertEqual(job()[0], ["first", "self"])
        self.assertEqual(self.names(), {} if sys.version_info < (3, 13) else {1: "first", 2: "second"})

    def test_data_is_passed_over(self):
        params = {"w": Array(1)}
        data = [list(range(512)) for _ in range(20_000)]
        sys.modules["_hbmscope_agent.agent"].SECONDS_MAX = 60  # Objects are counted here, not the time.
        self.look()
        self.assertEqual((self.names(), self.collector.facts), ({1: "params['w']"}, {}))
        del params, data

    def test_a_pause_saves_up_for_a_few_looks_only(self):
        self.agent._counted -= 3600
        self.look()
        self.assertLessEqual(self.agent._saved, 0.02)

    def test_an_array_that_fails_has_no_name(self):
        # An error of JAX's own code.
        class Fails(Array):
            exec("def unsafe_buffer_pointer(self): raise ValueError('deleted meanwhile')", {"__name__": "jax._src.array"}, locals())

        sys.modules["jax._src.array"].ArrayImpl = Fails
        array = Fails(1)
        self.look()
        self.assertEqual((self.names(), self.collector.facts), ({}, {}))
        del array

    def test_it_rests_while_a_profiler_or_a_debugger_watches(self):
        array = Array(1)
        sys.setprofile(lambda *arguments: None)
        try:
            self.look()
        finally:
            sys.setprofile(None)
        profile = cProfile.Profile()
        profile.enable()
        self.look()
        profile.disable()
        self.assertEqual(self.names(), {})
        self.look()
        self.assertEqual(self.names(), {1: "array"})
        del array

    def test_a_look_that_takes_long_is_followed_by_a_rest_of_a_hundred_times_that(self):
        class Slow(Array):
            def unsafe_buffer_pointer(self):
                time.sleep(0.2)
                return self.address

        sys.modules["jax._src.array"].ArrayImpl = Slow
        array = Slow(1)
        rest = self.look()
        self.assertGreater(rest, 15)
        self.assertLess(rest, 25)
        looks = self.agent.looks
        self.agent.wake(0)
        self.assertEqual(self.agent.looks, looks)
        del array

    def test_a_job_with_too_many_objects_is_told_so(self):
        kept = [[[]] for _ in range(300_000)]
        self.look()
        self.assertIn("too many objects", self.collector.facts["agent"])
        del kept


if __name__ == "__main__":
    unittest.main()
