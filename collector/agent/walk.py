"""Finds the arrays that can be reached from a program's variables, and the shortest path to each.

    params['dense']['kernel']      opt_state[0].mu['dense']['kernel']      trainer.model.layers.0.weight
"""

import collections
import time

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
    """`framework` knows its own objects: is_leaf(value), children_of(kind), which is None for others' kinds, is_late(kind),
    whose objects are looked at when all others were, and note(found). It ends after `seconds_max`, or when it has seen
    `objects_max`; `is_cut`: there were more."""

    def __init__(self, framework, objects_max, seconds_max):
        self._framework = framework
        self._children = {}  # By the type's id: the type, and what children_of() says. A type may have its own __eq__.
        self._seen = set()
        self._late = []
        self._left = objects_max
        self._end = time.thread_time() + seconds_max
        self.found = []
        self.is_cut = False

    def _children_of(self, kind):
        known = self._children.get(id(kind))
        if known is None:
            known = self._children[id(kind)] = (kind, self._framework.children_of(kind) or objects.children_of(kind))
        return known[1]

    # The roots in the order in which they name what several of them hold.
    def run(self, roots):
        for root in roots:
            self._follow(root, [(value, "%s", name, None) for name, value in list(root.variables.items())
                                if type(name) is str and not name.startswith("__")], True)
        for root, entry in self._late:
            self._follow(root, [entry], False)

    # Breadth first, so the first path is the shortest one. An entry is an object, the template and the key of the step that
    # leads to it, and the entry that it was reached from.
    def _follow(self, root, entries, may_wait):
        queue = collections.deque(entries)
        framework, seen = self._framework, self._seen
        while queue and not self.is_cut:
            entry = queue.popleft()
            value = entry[0]
            kind = type(value)
            children = self._children_of(kind)
            if children is None or id(value) in seen:
                continue
            if may_wait and framework.is_late(kind):
                self._late.append((root, entry))
                continue
            seen.add(id(value))
            if framework.is_leaf(value):
                self._note(entry, root)
            template, children_in = children
            for key, child in children_in(value):
                self._left -= 1
                if self._left <= 0 or (self._left & 255 == 0 and time.thread_time() > self._end):
                    self.is_cut = True
                    break
                if key is objects.CUT:
                    self.is_cut = True
                elif self._children_of(type(child)) is not None:
                    queue.append((child, template, key, entry))

    def _note(self, entry, root):
        steps = []
        at = entry
        while at is not None:
            steps.append((at[1] % (at[2],), at[0]))
            at = at[3]
        steps.reverse()
        self.found.append(Found(entry[0], "".join(text for text, _ in steps), root, steps))
        self._framework.note(self.found[-1])
