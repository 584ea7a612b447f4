"""SVG files as Matplotlib writes them, made several times smaller without a visible difference."""

import re

_LOOK = re.compile(r' style="([^"]*)"')
_PATHS = re.compile(r'<path d="([^"]*)"([^>]*)/>(?:\s*<path d="[^"]*"\2/>)+')
_USES = re.compile(r'(<g[^>]*)>((?:\s*<use (?:[^>]*? )?class="(\w+)"[^>]*/>)(?:\s*<use [^>]*class="\3"/>)+\s*)</g>')
_BARE = re.compile(r"<g>((?:(?!</?g[ >]).)*)</g>", re.DOTALL)
"""A group that has no look of its own and holds none."""


def shortened(text: str) -> str:
    """The same picture in fewer bytes.

    Coordinates are rounded to a hundredth of a point, looks that are written at every mark are written once, paths of
    one look that follow each other become one, and names that nothing refers to go.
    """
    text = re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL)
    text = _named(re.sub(r"<[^>]*>", _rounded, text))
    looks: dict[str, str] = {}
    head, opening, rest = text.partition("<defs>")
    rest = _LOOK.sub(lambda found: f' class="{looks.setdefault(found[1], f"s{len(looks)}")}"', rest)
    solid = {name for look, name in looks.items() if "fill: none" in look or "opacity" not in look}
    rest = _PATHS.sub(lambda found: _joined(found, solid), rest)
    rest = _USES.sub(_inherited, rest)
    while (fewer := _BARE.sub(r"\1", rest)) != rest:
        rest = fewer
    rest = re.sub(r">\s+<", "><", rest).replace("<g", "\n<g")
    rules = "".join(f".{name}{{{look.replace(': ', ':').replace('; ', ';')}}}" for look, name in looks.items())
    return f'{head}<style type="text/css">{rules}</style>{opening}{rest}'


def _rounded(tag: re.Match) -> str:
    """A tag, and not the text between two, with short numbers and without the spaces that a path can do without."""
    text = re.sub(r"-?\d+\.\d{3,}", lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), tag[0])
    return re.sub(r'(?<= d=")[^"]*', lambda found: re.sub(r"\s+(?=[A-Za-z])|(?<=[A-Z])\s+", "", found[0]).strip(), text)


def _named(text: str) -> str:
    """Names that are referred to, as short as they can be, and no others."""
    used = dict.fromkeys(re.findall(r'(?:url\(|href=")#([\w-]+)', text))
    short = {name: f"i{number}" for number, name in enumerate(used)}
    text = re.sub(r' id="([\w.-]+)"', lambda found: f' id="{short[found[1]]}"' if found[1] in short else "", text)
    return re.sub(r'(url\(#|href="#)([\w-]+)', lambda found: found[1] + short[found[2]], text)


def _joined(found: re.Match, solid: set[str]) -> str:
    """Paths of one look as one, but for those that shine through where they lie on each other."""
    look = re.search(r'class="(\w+)"', found[2])
    if look is None or look[1] not in solid:
        return found[0]
    lines = "".join(re.findall(r' d="([^"]*)"', found[0]))
    return f'<path d="{lines}"{found[2]}/>'


def _inherited(found: re.Match) -> str:
    """Marks of one look in a group, which has the look in their place."""
    return f'{found[1]} class="{found[3]}">{found[2].replace(f" class={chr(34)}{found[3]}{chr(34)}", "")}</g>'
