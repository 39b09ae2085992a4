"""Random patterns, and what can stand where in them."""

from oracle.choices import Size, Tape
from oracle.model import And, Leaf, Not, Opt, Or, Pattern, Plus, Seq, Star


def may_be_empty(pattern: Pattern) -> bool:
    match pattern:
        case Leaf() | And():
            return False
        case Star() | Opt() | Not():
            return True
        case Plus(inner):
            return may_be_empty(inner)
        case Seq(parts):
            return all(may_be_empty(part) for part in parts)
        case Or(parts):
            return any(may_be_empty(part) for part in parts)


class PatternDraw:
    """Draws one pattern; counts its leaves, so that nesting cannot make it large."""

    def __init__(self, tape: Tape, types: tuple[str, ...], size: Size) -> None:
        self.tape = tape
        self.types = types
        self.left = size.leaves
        self.depth = size.depth

    def whole(self) -> Pattern:
        if self.tape.chance(10):
            self.left //= 2
            return And(self.side(), self.side())
        return self.side()

    def side(self) -> Pattern:
        shape = self.tape.one_of("any", "sequence", "sequence", "sequence")
        if shape == "sequence":
            return self.never_empty(self.sequence(self.depth - 1, may_negate=True))
        return self.never_empty(self.any(self.depth, may_negate=True))

    def never_empty(self, pattern: Pattern) -> Pattern:
        if not may_be_empty(pattern):
            return pattern
        parts = pattern.parts if isinstance(pattern, Seq) else (pattern,)
        return Seq((*parts, self.leaf()) if self.tape.chance(50) else (self.leaf(), *parts))

    def leaf(self) -> Leaf:
        self.left -= 1
        name = self.tape.one_of(*self.types)
        if not self.tape.chance(30):
            return Leaf(name)
        # Two aliases for each type, so that a type has several and an alias several places.
        stem = name.lower() if name.isalpha() else "other"
        return Leaf(name, f"{stem}{self.tape.number(1, 2)}")

    def any(self, depth: int, may_negate: bool) -> Pattern:
        shapes = ["leaf", "leaf", "plus", "plus", "plus", "star", "optional"]
        if depth > 0 and self.left > 1:
            shapes += ["or", "sequence", "sequence"]
        match self.tape.one_of(*shapes):
            case "plus":
                return Plus(self.repeated(depth, may_negate))
            case "star":
                return Star(self.repeated(depth, may_negate))
            case "optional":
                return Opt(self.repeated(depth, may_negate))
            case "or":
                count = self.tape.number(2, 3)
                return Or(tuple(self.any(depth - 1, may_negate) for _ in range(count)))
            case "sequence":
                return self.sequence(depth - 1, may_negate)
        return self.leaf()

    def repeated(self, depth: int, may_negate: bool) -> Pattern:
        if depth > 0 and self.tape.chance(40):
            return self.any(depth - 1, may_negate)
        return self.leaf()

    def sequence(self, depth: int, may_negate: bool) -> Pattern:
        parts: list[Pattern] = []
        for _ in range(self.tape.number(2, 3)):
            if self.left > 0 or not parts:
                parts.append(self.any(depth, may_negate))
        if may_negate and self.tape.chance(35):
            for _ in range(self.tape.one_of(1, 1, 2)):
                parts.insert(self.tape.number(0, len(parts)), Not(self.negated(depth)))
        return Seq(tuple(parts)) if len(parts) > 1 else parts[0]

    def negated(self, depth: int) -> Pattern:
        match self.tape.one_of("leaf", "leaf", "sequence", "any", "not in not"):
            case "sequence":
                return Seq((self.leaf(), self.leaf()))
            case "any":
                return self.never_empty(self.any(min(depth, 1), may_negate=False))
            case "not in not":
                # A NOT inside a NOT needs an event of the inner match on both sides.
                inner = Seq((self.some(), Not(self.some()), self.some()))
                return self.tape.one_of(inner, inner, Plus(inner))
        return self.leaf()

    def some(self) -> Pattern:
        """A short pattern that is never empty."""
        leaf = self.leaf()
        return self.tape.one_of(leaf, leaf, Plus(leaf), Seq((leaf, leaf)))


def outer_leaves(pattern: Pattern, last: bool = False) -> set[Leaf]:
    """The leaves that a trend can begin with, or end with."""
    match pattern:
        case Leaf():
            return {pattern}
        case Not():
            return set()
        case Plus(inner) | Star(inner) | Opt(inner):
            return outer_leaves(inner, last)
        case Or(parts):
            return set().union(*(outer_leaves(part, last) for part in parts))
        case Seq(parts):
            found: set[Leaf] = set()
            for part in reversed(parts) if last else parts:
                found |= outer_leaves(part, last)
                if not may_be_empty(part):
                    break
            return found
    raise TypeError(f"a pattern inside a pattern cannot be {pattern}")


def neighbours(pattern: Pattern) -> set[tuple[Leaf, Leaf]]:
    """The pairs that can stand next to each other in a trend, or in a match of one NOT."""

    def across(left: Pattern, right: Pattern) -> set[tuple[Leaf, Leaf]]:
        starts = outer_leaves(right)
        return {(end, start) for end in outer_leaves(left, last=True) for start in starts}

    match pattern:
        case Leaf():
            return set()
        case Not(inner) | Opt(inner):
            return neighbours(inner)
        case Plus(inner) | Star(inner):
            return neighbours(inner) | across(inner, inner)
        case Or(parts):
            return set().union(*map(neighbours, parts))
        case And(left, right):
            return neighbours(left) | neighbours(right)
        case Seq((only,)):
            return neighbours(only)
        case Seq((first, *rest)):
            others = Seq(tuple(rest))
            return neighbours(first) | across(first, others) | neighbours(others)
    raise TypeError(f"no pattern: {pattern}")
