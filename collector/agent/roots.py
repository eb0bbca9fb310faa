"""Where a person's own variables are: the local variables of their functions, and the globals of their modules."""

import os
import site
import sys
import sysconfig
import types

from . import objects


def _library_folders():
    folders = {sysconfig.get_paths().get(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    folders.update(site.getsitepackages() if hasattr(site, "getsitepackages") else [])
    if isinstance(getattr(site, "USER_SITE", None), str):
        folders.add(site.USER_SITE)
    return tuple(sorted(folder.rstrip(os.sep) + os.sep for folder in folders if folder))


_LIBRARIES = _library_folders()


def is_own_file(path):
    """False for libraries, the standard library, and code without a file."""
    if not path or path.startswith("<"):
        return False
    path = os.path.abspath(path)
    return not path.startswith(_LIBRARIES) and "site-packages" not in path and "dist-packages" not in path


class Root:
    """`variables`: by name. `text`: where they are, as a person would say it."""

    __slots__ = ("text", "variables")

    def __init__(self, text, variables):
        self.text = text
        self.variables = variables


def _frames_outermost_first(frame):
    frames = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return reversed(frames)


def _frames_of_errors():
    """Of an error that is being handled, or has ended the program: their variables are still there."""
    for step in (sys.exc_info()[2], getattr(sys, "last_traceback", None)):
        while step is not None:
            yield step.tb_frame
            step = step.tb_next


def find_roots():
    """The outermost functions first: what a caller and its callee both hold is the caller's."""
    roots, modules, frames = [], set(), []

    def add_module(variables, path):
        if id(variables) not in modules:
            modules.add(id(variables))
            roots.append(Root("global of " + os.path.basename(path), variables))

    for frame in sys._current_frames().values():
        # Never a frame of ours: it would hold itself, and all that we have found, until the garbage is collected.
        while frame is not None and frame.f_globals.get("__package__") == __package__:
            frame = frame.f_back
        frames.extend(_frames_outermost_first(frame))
    frames.extend(frame for frame in _frames_of_errors() if frame not in frames)
    for frame in frames:
        path = frame.f_code.co_filename
        if not is_own_file(path) or frame.f_globals.get("__name__") == "hbmscope":
            continue
        if frame.f_code.co_name == "<module>":
            add_module(frame.f_globals, path)
        else:
            text = "local of %s (%s)" % (frame.f_code.co_name, os.path.basename(path))
            roots.append(Root(text, objects.variables_of(frame)))
    for name, module in list(sys.modules.items()):
        path = module.__dict__.get("__file__") if type(module) is types.ModuleType else None
        if type(path) is str and is_own_file(path) and name != "hbmscope":
            add_module(vars(module), path)
    return roots
