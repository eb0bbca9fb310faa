"""The first of the embedded files: makes modules of the others. `files`: a line "#: NAME" before each."""

import sys
import types


def load(files, addresses):
    package = types.ModuleType("_hbmscope_agent")
    package.__path__ = []
    sys.modules[package.__name__] = package
    for part in files.split("#: ")[1:]:
        name, _, text = part.partition("\n")
        module = types.ModuleType("%s.%s" % (package.__name__, name))
        module.__package__ = package.__name__
        sys.modules[module.__name__] = module
        setattr(package, name, module)
        exec(compile(text, "<hbmscope %s>" % name, "exec"), module.__dict__)
    package.agent.start(addresses)
    return package.agent
