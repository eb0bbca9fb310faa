"""Finds the arrays that can be reached from a program's variables, and the shortest path to each.

    params['dense']['kernel']      opt_state[0].mu['dense']['kernel']      trainer.model.layers.0.weight
"""

import collections

from . import objects


class Found:
    """`path`: as above. `root`: a Root. `steps`: the objects on the way, each with the text that leads to it."""

    __slots__ = ("leaf", "path", "root", "steps")

    def __init__(self, leaf, path, root, steps):
        self.leaf = leaf
        self.path = path
        self.root = root
        self.steps = steps


class Walk:
    """`framework` knows its own objects: is_leaf(value), children_function(kind), which is None for others' kinds,
    is_late(kind), whose objects are looked at when all others were, and note(found). `steps_max` bounds the objects that are
    looked at; `is_cut`: there were more."""

    def __init__(self, framework, steps_max):
        self._framework = framework
        self._functions = {}  # By type.
        self._seen = set()
        self._late = []
        self._left = steps_max
        self.found = []
        self.is_cut = False

    def _function_of(self, kind):
        if kind not in self._functions:
            self._functions[kind] = self._framework.children_function(kind) or objects.children_function(kind)
        return self._functions[kind]

    # The roots in the order in which they name what several of them hold.
    def run(self, roots):
        for root in roots:
            self._follow(root, [(value, name, None) for name, value in list(root.variables.items())
                                if type(name) is str and not name.startswith("__")], True)
        for root, entry in self._late:
            self._follow(root, [entry], False)

    # Breadth first, so the first path is the shortest one. An entry is an object, the text that leads to it from its parent,
    # and its parent's entry.
    def _follow(self, root, entries, may_wait):
        queue = collections.deque(entries)
        framework, seen = self._framework, self._seen
        while queue:
            entry = queue.popleft()
            value = entry[0]
            kind = type(value)
            function = self._function_of(kind)
            if function is None or id(value) in seen:
                continue
            if may_wait and framework.is_late(kind):
                self._late.append((root, entry))
                continue
            if self._left == 0:
                self.is_cut = True
                return
            self._left -= 1
            seen.add(id(value))
            if framework.is_leaf(value):
                self._note(entry, root)
            for step, child in function(value):
                self.is_cut = self.is_cut or step is objects.CUT
                queue.append((child, step, entry))

    def _note(self, entry, root):
        steps = []
        at = entry
        while at is not None:
            steps.append((at[1], at[0]))
            at = at[2]
        steps.reverse()
        self.found.append(Found(entry[0], "".join(text for text, _ in steps), root, steps))
        self._framework.note(self.found[-1])
