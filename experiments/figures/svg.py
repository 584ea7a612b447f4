"""SVG files as Matplotlib writes them, made several times smaller without a visible difference."""

import re

_LOOK = re.compile(r' style="([^"]*)"')
_PATHS = re.compile(r'<path d="([^"]*)"([^>]*)/>(?:\s*<path d="[^"]*"\2/>)+')
_USES = re.compile(r'(<g[^>]*)>((?:\s*<use (?:[^>]*? )?class="(\w+)"[^>]*/>)(?:\s*<use [^>]*class="\3"/>)+\s*)</g>')
_BARE = re.compile(r"<g>((?:(?!</?g[ >]).)*)</g>", re.DOTALL)
"""A group that has no look of its own and holds none."""


def shortened(text: str) -> str:
    """SVG of the same picture in fewer bytes.

    Coordinates are rounded to a hundredth of a point, looks that are written at every mark are written once, paths of
    one look that follow each other become one, and names that nothing refers to go.
    """
    text = re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL)
    text = _shorten_ids(re.sub(r"<[^>]*>", _shorten_numbers, text))
    looks: dict[str, str] = {}
    head, opening, rest = text.partition("<defs>")
    rest = _LOOK.sub(lambda match: f' class="{looks.setdefault(match[1], f"s{len(looks)}")}"', rest)
    solid = {name for look, name in looks.items() if "fill: none" in look or "opacity" not in look}
    rest = _PATHS.sub(lambda match: _merge_paths(match, solid), rest)
    rest = _USES.sub(_move_class_to_group, rest)
    while (fewer := _BARE.sub(r"\1", rest)) != rest:
        rest = fewer
    rest = re.sub(r">\s+<", "><", rest).replace("<g", "\n<g")
    rules = "".join(f".{name}{{{look.replace(': ', ':').replace('; ', ';')}}}" for look, name in looks.items())
    return f'{head}<style type="text/css">{rules}</style>{opening}{rest}'


def _shorten_numbers(tag: re.Match) -> str:
    """A tag with short numbers and without the spaces that a path does not need. The text between tags stays."""
    text = re.sub(r"-?\d+\.\d{3,}", lambda match: f"{float(match[0]):.2f}".rstrip("0").rstrip("."), tag[0])
    return re.sub(r'(?<= d=")[^"]*', lambda match: re.sub(r"\s+(?=[A-Za-z])|(?<=[A-Z])\s+", "", match[0]).strip(), text)


def _shorten_ids(text: str) -> str:
    """SVG with ids as short as possible. Ids that nothing refers to are removed."""
    used = dict.fromkeys(re.findall(r'(?:url\(|href=")#([\w-]+)', text))
    short = {name: f"i{number}" for number, name in enumerate(used)}
    text = re.sub(r' id="([\w.-]+)"', lambda match: f' id="{short[match[1]]}"' if match[1] in short else "", text)
    return re.sub(r'(url\(#|href="#)([\w-]+)', lambda match: match[1] + short[match[2]], text)


def _merge_paths(match: re.Match, solid: set[str]) -> str:
    """Paths of one style merged into one. Transparent paths stay separate, since their overlaps are darker."""
    look = re.search(r'class="(\w+)"', match[2])
    if look is None or look[1] not in solid:
        return match[0]
    lines = "".join(re.findall(r' d="([^"]*)"', match[0]))
    return f'<path d="{lines}"{match[2]}/>'


def _move_class_to_group(match: re.Match) -> str:
    """Group of marks with one look. The look moves from the marks to the group."""
    return f'{match[1]} class="{match[3]}">{match[2].replace(f" class={chr(34)}{match[3]}{chr(34)}", "")}</g>'
