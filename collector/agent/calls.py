"""The calls into the collector that is loaded in this process. Without one they do nothing."""

import contextlib
import ctypes

_UNKNOWN = (1 << 64) - 1
INSTANT, BEGINS, ENDS = 0, 1, 2


class Calls:
    """`addresses`: of the functions that collector/inject/python_agent.cpp lists, in its order."""

    def __init__(self, addresses):
        text, number = ctypes.c_char_p, ctypes.c_uint64
        # PYFUNCTYPE keeps the GIL: each call takes less than a microsecond.
        self._is_observed = ctypes.PYFUNCTYPE(ctypes.c_int)(addresses[0])
        self._attribute = ctypes.PYFUNCTYPE(None, number, text, text)(addresses[1])
        self._marker = ctypes.PYFUNCTYPE(None, text, ctypes.c_int)(addresses[2])
        self._fact = ctypes.PYFUNCTYPE(None, text, text)(addresses[3])
        self._ask = ctypes.PYFUNCTYPE(None)(addresses[4])
        self._end = ctypes.PYFUNCTYPE(None)(addresses[5])
        self._wants_list = ctypes.PYFUNCTYPE(ctypes.c_int)(addresses[6])
        self._list = ctypes.PYFUNCTYPE(None, ctypes.c_int)(addresses[7])
        self._block = ctypes.PYFUNCTYPE(None, ctypes.c_uint, number, number, number)(addresses[8])

    def is_observed(self):
        return self._is_observed() != 0

    def attribute(self, address, key, value):
        """A fact about the block at this address, which must be live."""
        self._attribute(address, key.encode(), value.encode("utf-8", "replace"))

    def marker(self, name, phase=INSTANT):
        self._marker(name.encode("utf-8", "replace"), phase)

    def ask(self):
        """For another look, as soon as the main thread comes to its next instruction."""
        self._ask()

    def wants_list(self):
        """After an attach: which blocks were there before is not known yet."""
        return self._wants_list() != 0

    @contextlib.contextmanager
    def list(self):
        """Around reading the blocks of PyTorch's pools and calling block() for each."""
        self._list(1)
        try:
            yield
        finally:
            self._list(0)

    def block(self, device, address, size, requested):
        """Sizes in bytes; `requested` may be None."""
        self._block(device, address, size, _UNKNOWN if requested is None else requested)

    def end(self):
        """The collector calls the agent no more."""
        self._end()

    def fact(self, key, value):
        """A fact about the job."""
        self._fact(key.encode(), value.encode("utf-8", "replace"))
