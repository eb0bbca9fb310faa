"""What Triton's kernels write in a dry run is unknown from then on (hbmscope_values.py): a counter that was zero stays zero
in memory, as no kernel runs. Which tensors a kernel writes follows from its source; TorchInductor names them itself.
"""

import ast

values = None  # hbmscope_values.

_STORES = ("store", "atomic_add", "atomic_and", "atomic_cas", "atomic_max", "atomic_min", "atomic_or", "atomic_xchg", "atomic_xor")


class _Writes(ast.NodeVisitor):
    """The parameters through which a kernel writes. Names hold what they were computed from, but not what they load."""

    def __init__(self, kernel, within):
        self.parameters = set(kernel.arg_names)
        self.of_name = {name: {name} for name in self.parameters}
        self.globals = getattr(kernel.fn, "__globals__", {})
        self.within = within
        self.written = set()

    def come_from(self, node):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "load":
            return set()
        if isinstance(node, ast.Name):
            return self.of_name.get(node.id, set())
        return set().union(*(self.come_from(one) for one in ast.iter_child_nodes(node)))

    def _assign(self, target, value):
        for name in [one.id for one in ast.walk(target) if isinstance(one, ast.Name)]:
            self.of_name[name] = self.of_name.get(name, set()) | value

    def visit_Assign(self, node):
        self.generic_visit(node)
        for target in node.targets:
            self._assign(target, self.come_from(node.value))

    def visit_AugAssign(self, node):
        self.generic_visit(node)
        self._assign(node.target, self.come_from(node.value))

    def visit_AnnAssign(self, node):
        self.generic_visit(node)
        if node.value is not None:
            self._assign(node.target, self.come_from(node.value))

    def visit_For(self, node):
        self._assign(node.target, self.come_from(node.iter))
        self.generic_visit(node)

    def visit_Call(self, node):
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in _STORES:
            of_method = self.come_from(function.value)  # A tensor descriptor's; none for tl.store.
            self.written |= of_method or (self.come_from(node.args[0]) if node.args else set().union(*(self.come_from(one.value) for one in node.keywords)))
        inner = self.globals.get(function.id) if isinstance(function, ast.Name) else None
        if hasattr(inner, "arg_names") and hasattr(inner, "parse"):
            written = _written_by(inner, self.within)
            given = list(zip(inner.arg_names, node.args)) + [(one.arg, one.value) for one in node.keywords]
            for name, value in given:
                if name in written:
                    self.written |= self.come_from(value)


def _written_by(kernel, within=()):
    """Names of parameters; all of them where the source says nothing."""
    known = getattr(kernel, "_hbmscope_written", None)
    if known is not None:
        return known
    if kernel in within:
        return set()
    try:
        tree = kernel.parse()
        finder = _Writes(kernel, (*within, kernel))
        for _ in range(2):  # A loop's first lines may use what its last ones assign.
            finder.visit(tree)
        written = finder.written & finder.parameters
    except Exception as error:
        values._note_trouble("triton", error)
        written = set(kernel.arg_names)
    if not within:
        kernel._hbmscope_written = written
    return written


def _forget(names, written, args, kwargs):
    for name, value in [*zip(names, args), *kwargs.items()]:
        if name in written:
            tensor = getattr(value, "base", value)  # A descriptor's.
            if isinstance(tensor, values.torch.Tensor) and tensor.is_cuda:
                values.forget(tensor)


def _follow_kernels(module):
    run = module.JITFunction.run

    def run_and_forget(self, *args, **kwargs):
        result = run(self, *args, **kwargs)
        if values.torch is not None and values._marks:
            _forget(self.arg_names, _written_by(self), args, kwargs)
        return result

    module.JITFunction.run = run_and_forget


def _follow_inductor(module):
    run = module.CachingAutotuner.run

    def run_and_forget(self, *args, **kwargs):
        result = run(self, *args, **kwargs)
        if values.torch is not None and values._marks:
            names = self.fn.arg_names
            written = {name for name in names if name.startswith(("out_ptr", "in_out_ptr"))} | set(getattr(self, "mutated_arg_names", ()))
            _forget(names, written, args, {})
        return result

    module.CachingAutotuner.run = run_and_forget


def _safely(change):
    def install(module):
        try:
            change(module)
        except Exception as error:  # Another release.
            values._note_trouble("triton", error)

    return install


def changes(module):
    """For hbmscope_imports.change()."""
    global values
    values = module
    return {"triton.runtime.jit": _safely(_follow_kernels), "torch._inductor.runtime.triton_heuristics": _safely(_follow_inductor)}
