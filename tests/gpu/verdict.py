"""What a check is, and how its figures become a verdict."""

from typing import Callable, NamedTuple

MIB = 1 << 20
LINE_MAX = 150
HOLDS, MISSED, NOT_JUDGED, LEFT_OUT, GPU_ONLY = "holds", "MISSED", "not judged", "left out", "only on a GPU"


class Check(NamedTuple):
    """`run(machine, figures, is_planted)` measures. With `is_planted` it disturbs the measurement in the way that `plant`
    describes, and must miss; an empty `plant` is a check that needs a GPU."""

    name: str
    oracle: str
    threshold: str
    plant: str
    run: Callable


class Figures:
    """What a check has measured, in the order of its lines; each is compared with its limit at once."""

    def __init__(self):
        self.rows = []

    def add(self, what, value, limit, is_ok):
        self.rows.append({"what": what, "value": value, "limit": limit, "ok": bool(is_ok)})

    def equal(self, what, ours, theirs):
        self.add(what, ours, f"= {theirs}", ours == theirs)

    def between(self, what, value, least, most):
        self.add(what, value, f"{least} to {most}", least <= value <= most)

    def at_most(self, what, value, most):
        self.add(what, round(value, 4), f"at most {most}", value <= most)

    def at_least(self, what, value, least):
        self.add(what, round(value, 4), f"at least {least}", value >= least)

    def true(self, what, is_ok, detail=""):
        self.add(what, detail or ("yes" if is_ok else "no"), "yes", is_ok)

    def missed(self):
        return [row for row in self.rows if not row["ok"]]

    def line(self):
        """The first miss with its limit, or the figures as far as a line of the page goes."""
        missed = self.missed()
        if missed:
            first, more = missed[0], f"; {len(missed) - 1} more missed" if len(missed) > 1 else ""
            return f"{first['what']}: {first['value']}" + (f" ({first['limit']})" if first["limit"] != "yes" else "") + more
        text = ", ".join(f"{row['what']}: {row['value']}" for row in self.rows)
        return text if len(text) <= LINE_MAX else text[:LINE_MAX].rsplit(", ", 1)[0] + ", ..."
