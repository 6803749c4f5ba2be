"""Damaged copies of a file, the same ones for the same seed."""

import random
import re
from collections.abc import Callable, Iterator

#: Bytes that readers are known to stumble over.
HOSTILE = (
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\r",
    b"NaN",
    b"-1",
    b"1e999",
    b'"',
    b"\\u12",
)
#: Digits that are none to a parser of integers, half a character, and deep nesting.
ODD = ("\u0663".encode(), b"\\ud800", b"[" * 3_000, b"\x1e", b"\x85")
HOSTILE_NUMBERS = (b"9223372036854775808", b"-9223372036854775809", b"1" * 400)

#: What stands in the place of a value: other types, and what no column holds.
VALUES = (
    *HOSTILE_NUMBERS,
    *(b"null", b"true", b"[]", b"{}", b'"x"', b'""', b"[1]", b'{"a": 1}'),
    *(b"NaN", b"1e999", b"-0.0", b"1.5", b"-1", b"0", b"1e18", b"4294967296"),
    str(1 << 128).encode(),
    ODD[0],
)

#: A number, a text in quotes that is no key, or a word of JSON.
VALUE = re.compile(
    rb'-?\b[0-9]+(?:\.[0-9]+)?\b|"[^"\\\n]*"(?!\s*:)|\b(?:true|false|null)\b'
)

Damage = Callable[[random.Random, bytes], bytes]


def cut(chance: random.Random, data: bytes) -> bytes:
    return data[: chance.randrange(len(data))]


def behead(chance: random.Random, data: bytes) -> bytes:
    return data[chance.randrange(len(data)) :]


def flip(chance: random.Random, data: bytes) -> bytes:
    out = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 5, 20))):
        out[chance.randrange(len(out))] ^= 1 << chance.randrange(8)
    return bytes(out)


def insert(chance: random.Random, data: bytes) -> bytes:
    at = chance.randrange(len(data))
    what = chance.choice(HOSTILE + ODD + HOSTILE_NUMBERS)
    return data[:at] + what * chance.choice((1, 1, 3)) + data[at:]


def replace_number(chance: random.Random, data: bytes) -> bytes:
    digits = [i for i, byte in enumerate(data) if 48 <= byte <= 57]
    if not digits:
        return flip(chance, data)
    at = chance.choice(digits)
    return (
        data[:at]
        + chance.choice((*HOSTILE_NUMBERS, ODD[0], b"", b"x", b"1.5"))
        + data[at + 1 :]
    )


def replace_value(chance: random.Random, data: bytes) -> bytes:
    places = [match.span() for match in VALUE.finditer(data)]
    if not places:
        return flip(chance, data)
    start, end = chance.choice(places)
    return data[:start] + chance.choice(VALUES) + data[end:]


def shuffle(chance: random.Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    chance.shuffle(lines)
    return b"".join(lines)


def duplicate(chance: random.Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    start = chance.randrange(len(lines))
    some = lines[start : start + chance.choice((1, 1, 3, 50))]
    return b"".join(lines[:start] + some * chance.choice((2, 3)) + lines[start:])


def drop(chance: random.Random, data: bytes) -> bytes:
    start = chance.randrange(len(data))
    return data[:start] + data[start + chance.choice((1, 8, 64, 512)) :]


def repeat(chance: random.Random, data: bytes) -> bytes:
    return data + data[: chance.randrange(len(data))]


DAMAGES: tuple[Damage, ...] = (
    cut,
    cut,
    behead,
    flip,
    flip,
    insert,
    replace_number,
    replace_value,
    shuffle,
    duplicate,
    drop,
    repeat,
)


def mutants(data: bytes, seed: str, count: int) -> Iterator[tuple[str, bytes]]:
    """Yield the name of a damage, and the damaged bytes.

    Args:
        data: The file; one byte at least.
        seed: What the damages depend on, besides the file.
        count: How many. [1]
    """
    chance = random.Random(seed)
    for number in range(count):
        damage = chance.choice(DAMAGES)
        yield f"{number}-{damage.__name__}", damage(chance, data)
