"""Words of a figure on a page: Matplotlib's formulas as plain signs, everything else as text and never as markup."""

import html
import re

_SIGNS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "Delta": "Δ", "epsilon": "ε", "varepsilon": "ε", "eta": "η",
    "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ",
    "theta": "θ", "phi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "infty": "∞", "to": "→", "rightarrow": "→",
    "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "times": "×", "cdot": "·", "pm": "±", "approx": "≈", "sim": "~",
    "propto": "∝", "Vert": "‖", "|": "‖", "partial": "∂", "nabla": "∇", "sqrt": "√", "ln": "ln ", "log": "log ",
    "exp": "exp", "max": "max", "min": "min", "ldots": "…", "dots": "…", "langle": "⟨", "rangle": "⟩", "neq": "≠",
    ",": "\u2009", ";": " ", "quad": " ", " ": " ", "!": "", "left": "", "right": "", "mathrm": "", "mathbf": "",
    "mathdefault": "", "text": "", "bar": "", "hat": "", "tilde": "", "frac": "", "star": "*", "top": "ᵀ",
    "{": "{", "}": "}", "$": "$",
}  # fmt: skip
_PART = r"[A-Za-z]\w*(?::\d+(?:\.\d+)?)?"
_NAME = re.compile(rf"(?<![\w./=:-]){_PART}(?:/{_PART})*(?![\w/=-]|[.:]\S)")
_TOKEN = re.compile(r"\\([A-Za-z]+|.)")


def readable(text: str) -> str:
    """A text in which names of columns and options are words: `gated_delta` is "gated delta", `top_k:8` "top k 8".

    Formulas stay, and so do paths and units.
    """
    parts = re.split(r"(?<!\\)(\$.*?\$)", text)
    return "".join(part if number % 2 else _NAME.sub(_words, part) for number, part in enumerate(parts))


def _words(name: re.Match[str]) -> str:
    text, alone = name[0], all(part[:2].islower() and len(part) > 1 for part in name[0].split("/"))
    if not (re.search("[_:]", text) or alone):
        return text
    return text.replace("_", " ").replace(":", " ").replace("/", ", ")


def markup(text: str) -> str:
    """A label as HTML with nothing in it but <sub> and <sup>: all else is escaped."""
    parts = re.split(r"(?<!\\)\$", text)
    return "".join(_formula(part) if number % 2 else _escaped(part) for number, part in enumerate(parts))


def plain_text(text: str) -> str:
    """A label as text alone."""
    return html.unescape(re.sub(r"</?su[bp]>", "", markup(text)))


def _escaped(text: str) -> str:
    return html.escape(text.replace(r"\$", "$"), quote=True).replace("\n", " ")


def _formula(text: str) -> str:
    text = _TOKEN.sub(lambda match: _SIGNS.get(match[1], match[1]), text)
    text = html.escape(text, quote=True).replace("-", "−")
    for sign, tag in (("^", "sup"), ("_", "sub")):
        text = re.sub(rf"\{sign}\{{([^{{}}]*)\}}", rf"<{tag}>\1</{tag}>", text)
        text = re.sub(rf"\{sign}(&#?\w+;|[^\s{{&<])", rf"<{tag}>\1</{tag}>", text)
    return re.sub(r"[{}]", "", text).replace("=", " = ").replace("  ", " ")
