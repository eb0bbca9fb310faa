"""The pages of the site that are in no file: all commands, and the limits. They are made from those that are."""

import posixpath
import re

LINK = re.compile(r"(\[[^\]]*\]\()([^)\s]+)(\))")

# Sections that say what does not work or is not seen.
LIMITS = [
    ("samples/guides/what_opens.md", "What to expect"),
    ("collector/README.md", "What is not seen"),
    ("collector/attach/README.md", "What can be seen after attaching"),
]
NOT_SEEN = re.compile(r"\bnot yet (a|on|run|seen|tested|compared|judged)\b|\bnever been (run|seen|tested|tried)\b|\bnot tried\b", re.IGNORECASE)
HISTORY = ("CHANGELOG.md", "DECISIONS.md")


def anchor_of(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def with_links_of(page, text):
    """A piece of `page`, as a page at the top has it: relative links begin in the page's folder."""

    def moved(found):
        link = found.group(2)
        if re.match(r"[a-z]+:", link):
            return found.group(0)
        link = page + link if link.startswith("#") else posixpath.normpath(posixpath.join(posixpath.dirname(page), link))
        return found.group(1) + link + found.group(3)

    return LINK.sub(moved, text)


def section_of(texts, page, heading):
    """The text under a heading of level two, up to the next one."""
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", texts[page], re.MULTILINE | re.DOTALL)
    if not found:
        raise SystemExit(f"{page} has no section '{heading}', which the site shows")
    return with_links_of(page, found.group(1).strip())


def sentences(text):
    """(Heading, sentence) of a page; a line of a table counts as one."""
    heading = ""
    for paragraph in re.split(r"\n\n|\n(?=- |\||#)", re.sub(r"^```.*?^```|^    .*?$", "", text, flags=re.MULTILINE | re.DOTALL)):
        paragraph = " ".join(paragraph.split()).removeprefix("- ")
        if paragraph.startswith("#"):
            heading = paragraph.lstrip("# ")
        elif paragraph.startswith("|"):
            yield heading, ": ".join(cell.strip() for cell in paragraph.strip("|").split(" | ")[:2])
        else:
            yield from ((heading, sentence) for sentence in re.split(r"(?<=[.:]) (?=[A-Z*])", paragraph))


def limits_page(texts):
    parts = ["# Limits", "What hbmscope does not see, and what it was not tried on. Each part is copied from the page that it names."]
    for page, heading in LIMITS:
        parts += [f"## {heading}", f"From [{page}]({page}#{anchor_of(heading)}).", section_of(texts, page, heading)]
    parts += ["## Not yet seen", "Sentences of these pages that say so:"]
    rows = []
    for page, text in texts.items():
        if page.endswith(HISTORY) or page.startswith("tests/"):
            continue
        found = [(heading, sentence) for heading, sentence in sentences(text) if NOT_SEEN.search(sentence)]
        rows += [f"- [{posixpath.dirname(page) or page}]({page}#{anchor_of(heading)}): {with_links_of(page, sentence)}" for heading, sentence in found]
    return "\n\n".join(parts) + "\n\n" + "\n".join(rows) + "\n"


def without_roff(text):
    return re.sub(r"\\(.)", lambda found: "\\" if found.group(1) == "e" else found.group(1), text.replace("\\&", ""))


def commands_page(manual):
    """The manual page, which the program prints in the few macros of roff that it uses, as Markdown."""
    parts = [
        "# All commands and options",
        "What `hbmscope COMMAND --help` prints, and the manual page. Each command also takes `--help`. [By question](app/cli/README.md) has the explanations.",
    ]
    lines = iter(manual[manual.index(".SH hbmscope ") :].splitlines())
    for line in lines:
        macro, _, rest = line.partition(" ")
        rest = without_roff(rest)
        if macro == ".SH":
            parts.append(f"## {rest.removeprefix('hbmscope ')}")
        elif macro == ".TP":
            name = without_roff(next(lines).removeprefix(".B "))
            text = without_roff(next(lines))
            if name != "-h, --help":
                parts.append(f"`{name}`\n:   {escaped(text)}")
        elif macro == ".nf":
            block = []
            while (line := next(lines)) != ".fi":
                block.append(without_roff(line))
            parts.append("```\n" + "\n".join(block).strip("\n") + "\n```")
        elif macro not in (".PP", ""):
            parts.append(escaped(without_roff(line)))
    return "\n\n".join(parts) + "\n"


def escaped(text):
    """Characters that Markdown would take for markup; `code` stays."""
    return "".join(part if part.startswith("`") else re.sub(r"([*_<\[\]{}])", r"\\\1", part) for part in re.split(r"(`[^`]*`)", text))
