"""Code for the emulated device."""

import struct


def code_with_variables(*names):
    """A cubin, that is an ELF file, whose variables have as many bytes as their names have letters."""
    texts, symbols = b"\0", bytes(24)
    for name in names:
        symbols += struct.pack("<IBBHQQ", len(texts), 1, 0, 3, 0, len(name))
        texts += name + b"\0"
    section = lambda kind, offset, size, link: struct.pack("<IIQQQQIIQQ", 0, kind, 0, 0, offset, size, link, 0, 1, 24)
    no_bits, symbol_table, text_table = 8, 2, 3
    sections = section(0, 0, 0, 0) + section(symbol_table, 64, len(symbols), 2) + section(text_table, 64 + len(symbols), len(texts), 0) + section(no_bits, 0, 0, 0)
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, 64 + len(symbols) + len(texts), 0, 64, 0, 0, 64, 4, 2)
    return header + symbols + texts + sections
