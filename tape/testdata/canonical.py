"""Writes python_canonical.jsonl: values a plain Python recorder would meet,
each with its canonical form as Python computes it.

    python3 canonical.py > python_canonical.jsonl
"""

import json
import random
import struct

random.seed(4380)

EDGES = [*range(0x25), 0x5C, 0x7F, 0x80, 0x85, 0xA0, 0x180E, 0x1680, 0x2000, 0x200A, 0x200B, 0x2028,
         0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF, 0xFFFF, 0x10000, 0x1F680, 0x61, 0x62]


def canonical(value):
    if isinstance(value, dict):
        return {k: canonical(v) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [canonical(v) for v in value]
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, float):
        return round(value, 6)
    return value


def number():
    whole, part = random.randrange(10 ** random.randrange(1, 12)), random.randrange(10**6)
    return random.choice([
        repr(struct.unpack("<d", struct.pack("<Q", random.getrandbits(62)))[0]),
        repr(random.uniform(-1, 1)),
        "%d.%06d5" % (whole, part),
        "-%d.%de%d" % (whole % 1000, part, random.randrange(-20, 25)),
        repr((random.randrange(2 ** random.randrange(1, 54)) + 0.5) / 2 ** random.randrange(30)),
    ])


def text():
    return "".join(chr(random.choice(EDGES)) for _ in range(random.randrange(5)))


def value(depth):
    kind = random.randrange(6 if depth else 3)
    if kind == 0:
        return random.choice([None, True, False, 0, -5, 10**30, random.uniform(-100, 100)])
    if kind in (1, 2):
        return text()
    if kind in (3, 4):
        return {text(): value(depth - 1) for _ in range(random.randrange(5))}
    return [value(depth - 1) for _ in range(random.randrange(4))]


def main():
    cases = [number() for _ in range(400)]
    cases += [json.dumps(value(3), ensure_ascii=random.random() < 0.5) for _ in range(300)]
    for case in cases:
        form = json.dumps(canonical(json.loads(case)), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        print(json.dumps([case, form]))


main()
