"""WordPiece, the tokenizer of BERT, from its vocab.txt: lower case, accents off, words cut greedily into known pieces.

Source: Devlin et al. 2019; the rules are those of the original `BasicTokenizer` and `WordpieceTokenizer`.
"""

import unicodedata
from pathlib import Path

LONGEST = 100
"""Characters of a word beyond which it is unknown."""


class WordPiece:
    """Token numbers of a text, between [CLS] and [SEP].

    Args:
        vocabulary: vocab.txt with one token a line.
        lower: fold case and strip accents.
    """

    def __init__(self, vocabulary: Path, *, lower: bool = True) -> None:
        lines = vocabulary.read_text(encoding="utf-8").splitlines()
        self.number = {token.strip(): number for number, token in enumerate(lines)}
        self.lower = lower
        missing = [token for token in ("[CLS]", "[SEP]", "[UNK]") if token not in self.number]
        if missing:
            raise ValueError(f"vocabulary must be a vocab.txt of BERT, got no {missing[0]} in '{vocabulary}'")

    def encode(self, text: str) -> list[int]:
        """Numbers of [CLS], the text's pieces and [SEP]."""
        return [self.number[token] for token in ("[CLS]", *self.tokens(text), "[SEP]")]

    def tokens(self, text: str) -> list[str]:
        """Pieces of a text; those inside a word begin with ##."""
        return [piece for word in words(text, lower=self.lower) for piece in self._pieces(word)]

    def _pieces(self, word: str) -> list[str]:
        pieces: list[str] = []
        start = 0
        while start < len(word) and len(word) <= LONGEST:
            prefix = "##" if start else ""
            ends = range(len(word), start, -1)
            end = next((end for end in ends if prefix + word[start:end] in self.number), None)
            if end is None:
                return ["[UNK]"]
            pieces.append(prefix + word[start:end])
            start = end
        return pieces or ["[UNK]"]


def words(text: str, *, lower: bool = True) -> list[str]:
    """Words and single marks of punctuation, control characters left out."""
    if lower:
        text = "".join(c for c in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(c) != "Mn")
    spaced: list[str] = []
    for c in text:
        if c.isspace():
            spaced.append(" ")
        elif _punctuation(c) or _ideograph(c):
            spaced.append(f" {c} ")
        elif c != "\ufffd" and not unicodedata.category(c).startswith("C"):
            spaced.append(c)
    return [str(word) for word in "".join(spaced).split()]


def _punctuation(c: str) -> bool:
    return (c.isascii() and c.isprintable() and not c.isalnum()) or unicodedata.category(c).startswith("P")


def _ideograph(c: str) -> bool:
    blocks = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2CEAF), (0x2F800, 0x2FA1F))
    return any(low <= ord(c) <= high for low, high in blocks)
