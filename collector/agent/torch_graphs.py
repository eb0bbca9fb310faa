"""How many steps back the graphs reach that autograd keeps for PyTorch's tensors. Such a graph has tensors that no variable
leads to: what the backward passes of all its operations need."""

import bisect
import collections
import time

STEPS_MAX = 65536
OPERATIONS_MAX, SECONDS_MAX = 500_000, 1.0  # Of one look at all graphs.


class Graphs:
    """Autograd numbers a thread's operations. So an operation's number says after how many steps it was made."""

    def __init__(self, torch):
        self._next_number = getattr(getattr(torch._C, "_autograd", None), "_get_sequence_nr", None)
        self._steps = collections.deque(maxlen=STEPS_MAX)  # The number of the first operation after each step.

    def note_step(self):
        if self._next_number is not None:
            self._steps.append(self._next_number())

    def steps_of(self, operations):
        """Of each tensor's last operation, which may be None: how many steps have ended since the oldest operation of its
        graph. 0 if that isn't known."""
        if not self._steps:
            return [0] * len(operations)
        steps, oldest = list(self._steps), self._oldest_of(operations)
        return [0 if number is None else len(steps) - bisect.bisect_right(steps, number) for number in oldest]

    def _oldest_of(self, operations):
        """The smallest number that is reached from each; None where the search ended before."""
        oldest = {}  # By id: the operation, so that its id stays its own, and the number.
        left, end = OPERATIONS_MAX, time.thread_time() + SECONDS_MAX
        for first in operations:
            path = [] if first is None or id(first) in oldest else [first]
            while path:  # An operation comes twice: before those that it leads to, and after them.
                operation = path[-1]
                inputs = [one for one, _ in operation.next_functions if one is not None]
                if id(operation) not in oldest:
                    left -= 1
                    if left <= 0 or (left & 255 == 0 and time.thread_time() > end):
                        break
                    oldest[id(operation)] = (operation, operation._sequence_nr())
                    path.extend(one for one in inputs if id(one) not in oldest)
                else:
                    path.pop()
                    numbers = [oldest[id(one)][1] for one in inputs if id(one) in oldest]
                    oldest[id(operation)] = (operation, min(numbers + [oldest[id(operation)][1]]))
            for operation in path:  # The search has ended, and what is below these isn't known.
                oldest.pop(id(operation), None)
            if path:
                break
        return [oldest.get(id(first), (None, None))[1] for first in operations]
