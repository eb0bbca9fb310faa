"""The packages of the user's Python that these programs need, and what to say if one can't be used."""

import importlib.metadata
import importlib.util
import sys

NEEDED = {"duckdb": ("1.1.3", "3"), "mcp": ("1.30", "3")}  # From this version on, and below that one: tests/fleet, tests/agent try both ends.


def numbers(version):
    return [int(part) for part in version.split(".")[:3] if part.isdigit()]


def version_of(package):
    """Empty: unknown."""
    try:
        return importlib.metadata.version(package) or ""
    except importlib.metadata.PackageNotFoundError:
        return ""


def requirement(package):
    first, end = NEEDED[package]
    return f"{package}>={first},<{end}"


def remedy(package):
    return f"Run {sys.executable} -m pip install '{requirement(package)}', or name another Python with --python."


def why_not_imported(package, error):
    """The sentences for a person, after its import has failed."""
    if importlib.util.find_spec(package) is None:
        return f"the Python '{sys.executable}' has no package {package}. {remedy(package)}"
    version = version_of(package)
    return f"the package {package}{version and ' ' + version} of the Python '{sys.executable}' can't be imported: {error}. hbmscope needs {requirement(package)}. {remedy(package)}"


def doubt_of(package):
    """Behind an error of the package: its version may be the reason. Empty: it is one that hbmscope knows."""
    version, (first, end) = version_of(package), NEEDED[package]
    if not numbers(version) or numbers(first) <= numbers(version) < numbers(end):
        return ""
    return f" The package {package} is {version}, and hbmscope needs {requirement(package)}. {remedy(package)}"
