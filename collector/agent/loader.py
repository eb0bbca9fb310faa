"""The first of the embedded files: makes modules of the others. `files`: a line "#: NAME" before each."""

import sys
import types


class _Nothing:
    """In place of an agent that could not start."""

    @staticmethod
    def wake(is_failure):
        return 3600.0

    @staticmethod
    def leave():
        pass


def load(files, addresses):
    package = types.ModuleType("_hbmscope_agent")
    package.__path__ = []
    sys.modules[package.__name__] = package
    try:
        for part in files.split("#: ")[1:]:
            name, _, text = part.partition("\n")
            module = types.ModuleType("%s.%s" % (package.__name__, name))
            module.__package__ = package.__name__
            sys.modules[module.__name__] = module
            setattr(package, name, module)
            exec(compile(text, "<hbmscope %s>" % name, "exec"), module.__dict__)
        return package.agent.start(addresses) or _Nothing
    except BaseException as error:
        if not hasattr(package, "own_errors") or not package.own_errors.is_ours(error):
            raise
        return _Nothing
