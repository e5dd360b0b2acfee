"""The part of the project's rule for plain English that a program can check: words and openings of sentences that make
a reader read a sentence twice. Words in snake-case names count too."""

from __future__ import annotations

import re
from bisect import bisect_right

from ci.lib.messages import Missing

_MARK = r"(?:/\*+|\*(?![*/])|//[/!]?|\#+|>|\|)"
_GAP = rf"""(?:[ \t]+|[ \t]*\\?["']?[ \t]*\\?\n[ \t]*(?:{_MARK}[ \t]*)?[frb]?["']?)"""
"""Between two words of a sentence: spaces, or the end of a line with the marks that comments and strings have there."""

# Each word in brackets or cut in two, so that this file passes.
_WORDS = {
    rf"is{_GAP}n[o](?!{_GAP}longer\b)(?={_GAP}[\w`'\"{{$%<])": 'write "is not a", or name the subject',
    rf"(?<!there )(?:are|were){_GAP}n[o](?!{_GAP}longer\b)(?={_GAP}[a-z])": 'write "are not"',
    r"is_n[o](?!_longer(?:_|\b))_[a-z]\w*": 'write "is_not_a"',
    r"(?:test_|TEST\()(?:\w*_)?(?:wha[t]|wh[o]|whoeve[r])": "write a noun",
    "nobod[y]": "name the subject, or use the passive",
    rf"n[o]{_GAP}on[e]": "name the subject, or use the passive",
    "ane[w]": 'write "again"',
    "meanwhil[e]": "name the time",
    "whoeve[r]": "name the subject",
    "likewis[e]": 'write "also"',
    rf"(?:giv(?:e|es|en|ing)|gave){_GAP}u[p]{_GAP}(?:the|its|a){_GAP}GIL": 'write "releases the GIL"',
    rf"(?:giv(?:e|es|en|ing)|gave){_GAP}(?:the|its|a){_GAP}GIL{_GAP}u[p]": 'write "releases the GIL"',
    r"\w*_(?:giv(?:e|es|en|ing)|gave)_u[p]_(?:the|its|a)_GIL": 'write "releases_the_gil"',
    rf"GIL{_GAP}(?:is|was|be){_GAP}given{_GAP}u[p]": 'write "the GIL is released"',
}
_RULES = [
    (re.compile(rf"(?<![^\W_])(?:{pattern})(?![^\W_])", re.IGNORECASE), advice) for pattern, advice in _WORDS.items()
]

_JOIN = re.compile(_GAP)
_OPENING = re.compile(
    rf"(?<![\w.:-])(?:Wha[t]|Wh[o]|Whoeve[r]|I[t]s?|The[y]|Thei[r])(?='(?:s|re)\b|{_GAP}[\w`*\"'({{%])"
)
_VERB = r"is|are|was|were|has|had|have|does|do|did|comes?|came|can|could|may|must|will|would|needs?|remains?"
_CLAUSE = re.compile(rf"(?<![\w.:-])wha[t]{_GAP}(?:an?|the|its?|they|{_VERB})\b(?!{_GAP}(?:not{_GAP})?None)")
_LINE_MARK = re.compile(r"#+|//[/!]?")
_QUOTES = ('"""', "'''", '"', "'", "`")
_END = re.compile(r"""[.!?](?=[\s"'`)*|\]\\]|$)|\*/|\"{3}""")


def find_words(name: str, text: str) -> list[str]:
    """Return where a text breaks the rule: FILE:LINE and a sentence each, in the order of the lines."""
    starts = [match.end() for match in re.finditer("\n", text)]
    found = []
    for pattern, advice in _RULES:
        for match in pattern.finditer(text):
            words = " ".join(_JOIN.sub(" ", match[0]).split())
            found.append((bisect_right(starts, match.start()) + 1, f'"{words}": {advice}'))
    for pattern, place, advice in ((_OPENING, "sentence", "name the subject"), (_CLAUSE, "clause", "write a noun")):
        for match in pattern.finditer(text):
            if not _is_question(text, match.start()):
                line = bisect_right(starts, match.start()) + 1
                found.append((line, f'a {place} opens with "{match[0].split()[0]}": {advice}'))
    return [f"{name}:{line}: {violation}" for line, violation in sorted(found)]


def _is_question(text: str, start: int) -> bool:
    """Return whether the sentence that starts there ends with a question mark."""
    end = _END.search(_paragraph(text, start))
    return end is not None and end[0] == "?"


def _paragraph(text: str, start: int) -> str:
    """Return the rest of the paragraph: up to an empty line; if a quote opens the text right before `start`, up to the
    closing quote; in a comment whose lines have a mark each, up to a line without the mark."""
    first = text.rfind("\n", 0, start) + 1
    mark = _LINE_MARK.search(text, first, start)
    lines = []
    for number, line in enumerate(text[start : start + 2000].split("\n")):
        if not line.strip(" \t*#/>|") or (number and mark and not line.lstrip().startswith(mark[0])):
            break
        lines.append(line)
    rest = "\n".join(lines)
    quote = next((quote for quote in _QUOTES if text.endswith(quote, 0, start)), None)
    return rest if quote is None else rest.split(quote, 1)[0]


# --- the check of the check -----------------------------------------------------------------------------------------

_WHAT, _CLAUSED, _WHO, _NO, _GIL = "What", "what", "Who", "no", "the GIL"  # fields, so that this file passes
_IT, _ITS, _THEY, _UP = "It", "Its", "They", "up"  # fields, too
_PRONOUN = f"{_NO}body"
_PLANTED = {
    "a.c": f"""/* {_WHAT} a call needs. */
int a; /* This ends. {_WHAT}
        * follows is here. */
// {_WHAT} is this?
/* {_WHAT} is
 * this? {_WHO} asks, waits. */
fail("the value is "
     "{_NO} list");
TEST(a_call_tells_{_CLAUSED}_it_needs) {{ }} // {_NO} one
enum {{ {_PRONOUN.upper()}, is_{_NO}, fh_{_PRONOUN}_2 }};
// {_WHAT} remains
x = a ? b : c;
/* This is {_NO}t so. {_WHAT}Fits is a name, and "some{_PRONOUN[2:]}" another. */
/* {_ITS} end. A call waits.
 * {_THEY} wait. {_IT}s is it? ITS, {_IT}em */
""",
    "b.md": f"""# {_WHAT} differs

Is it? In [{_WHAT} is it?](page.md) {_WHO.lower()} is known. If there is
{_NO} password:

- {_WHO} calls it, waits.
- {_WHO} calls it?

A call gives
up {_GIL}; {_GIL} is given up.
""",
    "c.py": f'''"""{_WHAT} is left."""
ask = "{_WHAT} is it?" if right else "{_WHAT}'s wrong"
# This is {_NO} "list", or there is
# {_NO} list.
# A call returns {_CLAUSED}
# it found, if {_CLAUSED} is not None. A call asks {_CLAUSED} it is?
def test_a_call_gives_{_UP}_the_gil(): ...
# If there are {_NO} files, or files are {_NO} lists, or are {_NO} longer there.
''',
}
_PLANTED_LINES = [
    *("a.c:1", "a.c:2", "a.c:6", "a.c:7", "a.c:9", "a.c:9", "a.c:10", "a.c:10", "a.c:11", "a.c:14", "a.c:15"),
    *("b.md:1", "b.md:3", "b.md:6", "b.md:9", "b.md:10"),
    *("c.py:1", "c.py:2", "c.py:3", "c.py:3", "c.py:5", "c.py:7", "c.py:8"),
]


def check_the_check() -> None:
    """Check that planted violations are found."""
    found = [violation for name, text in _PLANTED.items() for violation in find_words(name, text)]
    if [violation.split(": ")[0] for violation in found] != _PLANTED_LINES:
        raise Missing(f"the check of words finds {found} where it should find {_PLANTED_LINES}")
