"""How the programs in Python write bytes, counts and tables."""


def bytes_text(count):
    if count is None:
        return "-"
    value, unit = float(abs(count)), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        if value < 1023.5:
            break
        value, unit = value / 1024, larger
    digits = f"{value:.0f}" if unit == "B" or value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"
    return f"{'-' if count < 0 else ''}{digits} {unit}"


def counted(count, one, many=None):
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def signed(count):
    return ("+" if count > 0 else "") + bytes_text(count)


def columns(rows):
    """Rows of texts, each column as wide as its widest; the last one is left alone."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return ["  " + "  ".join(cell.ljust(width) if at < len(row) - 1 else cell for at, (cell, width) in enumerate(zip(row, widths))) for row in rows]
