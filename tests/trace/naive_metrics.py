"""The metrics of a heap as anybody would work them out: whole lists, no trick.

An event is ("alloc", key, size), ("free", key, size) or None for whatever else happens; its number is its place in the
list. Nothing lives before the first one.
"""


RATIOS = ("allocated_bytes_per_second", "allocated_bytes_per_event", "turnover")


def step_of(value):
    return value.bit_length()


# [(value, bytes)] to what hbmscope prints of a histogram in steps of powers of two.
def steps(pairs, unit):
    sums = {}
    for value, size in pairs:
        count, total = sums.get(step_of(value), (0, 0))
        sums[step_of(value)] = (count + 1, total + size)
    return [
        {f"from_{unit}": 0 if k == 0 else 1 << (k - 1), f"to_{unit}": 1 << k, "count": count, "bytes": total}
        for k, (count, total) in sorted(sums.items())
    ]


def close(a, b):
    return a is b if None in (a, b) else abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def metrics(events, times_ns, position, peak_of_all):
    """Of the first `position` events."""
    events, times_ns, start = events[:position], times_ns[:position], times_ns[0] if times_ns else 0
    has_times = len(set(times_ns)) > 0
    live, lifetimes, in_use, marks, peak = {}, [], 0, [], (0, 0)
    step = max(1, -(-peak_of_all // 32))
    for number, event in enumerate(events):
        if event is None:
            continue
        what, key, size = event
        if what == "alloc":
            live[key] = (number, size)
            in_use += size
        elif key in live:
            begin, size = live.pop(key)
            in_use -= size
            lifetimes.append((number - begin, times_ns[number] - times_ns[begin], size))
        mark = {"events": number + 1, "since_start_ns": times_ns[number] - start, "in_use_bytes": in_use}
        if in_use > peak[0]:
            peak = (in_use, mark)
        if in_use - (marks[-1]["in_use_bytes"] if marks else 0) >= step:
            marks.append(mark)
    allocated = [event[2] for event in events if event is not None and event[0] == "alloc"]
    ages = [(position - begin, times_ns[-1] - times_ns[begin], size) for begin, size in live.values()]
    histograms = lambda rows: {
        "by_events": steps([(row[0], row[2]) for row in rows], "events"),
        "by_time": steps([(row[1], row[2]) for row in rows], "ns"),
        "unknown_count": 0,
        "unknown_bytes": 0,
    }
    seconds = (times_ns[-1] - start) / 1e9 if has_times else 0
    return {
        "live_sizes": steps([(size, size) for _, size in live.values()], "bytes"),
        "age": histograms(ages),
        "allocated_bytes": sum(allocated),
        "allocations": len(allocated),
        "allocated_bytes_per_second": sum(allocated) / seconds if seconds > 0 else None,
        "allocated_bytes_per_event": sum(allocated) / position if position > 0 else None,
        "turnover": sum(allocated) / peak[0] if peak[0] > 0 else None,
        "peak_so_far": peak[1] or {"events": 0, "since_start_ns": 0, "in_use_bytes": 0},
        "high_water": {"step_bytes": step, "moments": marks},
        "lifetime": histograms(lifetimes),
    }
