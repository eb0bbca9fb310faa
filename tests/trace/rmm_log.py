"""Made-up logs of RMM: a row is an event, and every moment a sum."""


# A log as RMM writes it, the live blocks after each of its rows, and their times. Now and then a thread is late, a
# request fails, or a block is freed that the log does not know; the date changes on the way.
def make_rmm_log(chance, rows):
    lines, moments, failures, times_us = [], [{}], [], []
    time_us = chance.randrange(24 * 3600) * 1_000_000
    threads, streams = [chance.randrange(1 << 47) for _ in range(3)], ["0x0", "0x1", "0x55d0c0a01020"]
    while len(lines) < rows:
        live = dict(moments[-1])
        time_us += chance.choice((0, 3, 250, 5_000_000, 3_600_000_000))
        told_us = time_us - (chance.randrange(40) if lines and chance.random() < 0.1 else 0)
        times_us.append(max(told_us, times_us[-1]) if lines else told_us)
        second, fraction = divmod(told_us % (24 * 3600 * 1_000_000), 1_000_000)
        action, size = "allocate", chance.randrange(1, 1 << 20)
        address = 0x7F0000000000 + chance.randrange(300) * 0x100000
        if chance.random() < 0.05:
            action, address, size = "allocate failure", "(nil)", chance.randrange(1, 1 << 40)
            failures.append(size)
        elif chance.random() < 0.02:
            action, address = "free", 0x7E0000000000 + chance.randrange(300) * 256
        elif address in live:
            action, size = "free", live.pop(address)
        else:
            live[address] = size
        place = address if address == "(nil)" else hex(address)
        stamp = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.{fraction:06}"
        lines.append(f"{chance.choice(threads)},{stamp},{action},{place},{size},{chance.choice(streams)}")
        moments.append(live)
    return lines, moments, failures, [time - times_us[0] for time in times_us]


# A row for naive_metrics.py.
def rmm_event(line):
    _, _, action, address, size, _ = line.split(",")
    return {"allocate": ("alloc", address, int(size)), "free": ("free", address, int(size))}.get(action)
