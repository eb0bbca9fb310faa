"""Finds calls of std::filesystem that throw where a path can't be looked at: in a folder that may not be entered, with a
name that is too long, in a loop of links, in a working folder that was removed. An uncaught error ends the program.

It reads text, not C++: an error code is a variable that the same file declares as one, and an entry of a folder is a
variable that the same file declares as one.
"""

import re

# Each also takes an error code as its last argument, and throws without.
FUNCTIONS = (
    "absolute canonical copy copy_file copy_symlink create_directories create_directory create_directory_symlink create_hard_link create_symlink current_path "
    "equivalent exists file_size hard_link_count is_block_file is_character_file is_directory is_empty is_fifo is_other is_regular_file is_socket is_symlink "
    "last_write_time permissions proximate read_symlink relative remove remove_all rename resize_file space status symlink_status temp_directory_path "
    "weakly_canonical"
).split()
ITERATORS = ("directory_iterator", "recursive_directory_iterator")
# Found without their namespace, too (by the type of their argument), unless the name has another meaning elsewhere.
OWN_WORDS = (
    "canonical copy_file create_directories create_directory create_hard_link create_symlink file_size hard_link_count is_character_file is_directory is_fifo "
    "is_regular_file is_socket is_symlink last_write_time read_symlink remove_all symlink_status temp_directory_path weakly_canonical"
).split()
# Members of std::filesystem::directory_entry, of whatever variable; the others only of one that is known to be an entry.
OWN_MEMBERS = "is_block_file is_character_file is_directory is_fifo is_regular_file is_socket is_symlink hard_link_count last_write_time symlink_status".split()
OTHER_MEMBERS = "exists file_size is_other status refresh".split()
TAKES_STATUS = {name for name in FUNCTIONS if name.startswith("is_")} | {"exists"}

LITERAL = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^\s()\\]{0,16})\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', re.DOTALL
)


def without_literals(text):
    """The same lines, without comments and the content of strings."""
    return LITERAL.sub(lambda found: '""' + "\n" * found.group().count("\n"), text)


def arguments_at(code, opening):
    """The arguments of a call, as text; `opening` is the place of its parenthesis or brace. None: it has no end."""
    depth, begin, arguments = 0, opening + 1, []
    for place in range(opening, len(code)):
        if code[place] in "([{":
            depth += 1
        elif code[place] in ")]}":
            depth -= 1
        if depth == 0 or (depth == 1 and code[place] == ","):
            arguments.append(code[begin:place].strip())
            begin = place + 1
        if depth == 0:
            return [one for one in arguments if one]
    return None


def names_declared(code, pattern):
    return set(re.findall(pattern, code))


class Calls:
    def __init__(self, code):
        self.code = code
        aliases = re.findall(r"\bnamespace\s+(\w+)\s*=\s*(?:::)?std::filesystem\s*;", code)
        self.space = r"(?:(?:::)?std::filesystem|" + "|".join(aliases) + ")::" if aliases else r"(?:::)?std::filesystem::"
        self.errors = names_declared(code, r"\bstd::error_code\s*&?\s*(\w+)")
        for more in re.findall(r"\bstd::error_code\s+([\w\s,]+);", code):
            self.errors |= {name.strip() for name in more.split(",")}
        entry = rf"\b(?:const\s+)?{self.space}directory_entry\s*&?\s*(\w+)"
        self.entries = names_declared(code, entry) | names_declared(code, r"\bauto\s*&?\s*(\w+)\s*:\s*[^;{]*directory_iterator\b")
        self.statuses = names_declared(code, rf"{self.space}file_status\s*&?\s*(\w+)") | names_declared(code, r"\bauto\s+(\w+)\s*=\s*[^;]*\b(?:symlink_)?status\s*\(")
        self.iterators = names_declared(code, rf"{self.space}(?:recursive_)?directory_iterator\s+(\w+)\s*[({{=,;]")

    def is_safe(self, name, arguments):
        if not arguments:
            return False
        last = re.sub(r"^(std::move|std::ref)\((.*)\)$", r"\2", arguments[-1])
        if last in self.errors or re.search(r"(^|\.|->)error_code\(\)$", last):
            return True
        # Of a status, which is only looked at; how it was found is another call, with its own error code.
        return name in TAKES_STATUS and len(arguments) == 1 and (last in self.statuses or re.search(r"(^|\W)(symlink_)?status\s*\(.*\)$", last, re.DOTALL) is not None)

    def of_functions(self):
        qualified = rf"(?<![\w:]){self.space}({'|'.join(FUNCTIONS)})\s*(\()"
        plain = rf"(?<![\w:.>~])({'|'.join(OWN_WORDS)})\s*(\()"
        own = names_declared(self.code, rf"(?:^|\n)[\w:<>&*,\s]*?[\w>&*]\s+(?:\w+::)*({'|'.join(OWN_WORDS)})\s*\(")
        for pattern in (qualified, plain):
            for call in re.finditer(pattern, self.code):
                name = call.group(1)
                if pattern is plain and name in own:
                    continue
                arguments = arguments_at(self.code, call.start(2))
                if arguments is not None and not self.is_safe(name, arguments):
                    yield call.start(), f"{name}() throws"

    def of_members(self):
        known = "|".join(sorted(self.entries)) or "(?!)"
        through = rf"\(?\*?(?:{'|'.join(sorted(self.iterators)) or '(?!)'})\)?"
        patterns = (rf"(?:\.|->)({'|'.join(OWN_MEMBERS)})\s*(\()", rf"\b(?:{known}|{through})(?:\.|->)({'|'.join(OTHER_MEMBERS)})\s*(\()")
        for pattern in patterns:
            for call in re.finditer(pattern, self.code):
                arguments = arguments_at(self.code, call.start(2))
                if arguments is not None and not self.is_safe("", arguments):
                    yield call.start(), f"{call.group(1)}() throws"

    def of_iterators(self):
        kinds = "|".join(ITERATORS)
        known = "|".join(sorted(self.iterators)) or "(?!)"
        for loop in re.finditer(rf"\bfor\s*(\()[^;(){{}}]*[^:;(){{}}]:(?!:)\s*(?:{self.space}(?:{kinds})\b|(?:{known})\s*\))", self.code):
            yield loop.start(), "a range of a folder's entries throws at the next entry; advance with increment(error)"
        for made in re.finditer(rf"(?<![\w:]){self.space}({kinds})\s*(?:\w+\s*)?([({{])", self.code):
            arguments = arguments_at(self.code, made.start(2))
            if arguments and not self.is_safe("", arguments):
                yield made.start(), f"{made.group(1)} throws"
        for step in re.finditer(rf"\+\+\s*(?:{known})\b|\b(?:{known})\s*\+\+", self.code):
            yield step.start(), "++ throws at the next entry; advance with increment(error)"

    def of_names(self):
        for taken in re.finditer(rf"\busing\s+(?:namespace\s+)?(?:::)?std::filesystem(?:\s*;|::({'|'.join([*FUNCTIONS, *ITERATORS])})\s*;)", self.code):
            yield taken.start(), "calls of std::filesystem keep their namespace, so that they are found"


def find_throwing_calls(text):
    """Pairs of a line's number and what is wrong there."""
    code = without_literals(text)
    if "filesystem" not in code and not re.search(r"\b(?:is_regular_file|directory_entry)\b", code):
        return []
    calls = Calls(code)
    found = {}
    for one in (calls.of_functions(), calls.of_members(), calls.of_iterators(), calls.of_names()):
        for place, why in one:
            found.setdefault(code.count("\n", 0, place) + 1, why)
    return sorted(found.items())
