"""All cases, a family a file. `all_cases(small)` gives them at the sizes that are timed, or at small ones of the same kernels."""

from . import attention, contractions, convolutions, kinds, memory, models

FAMILIES = [kinds, contractions, convolutions, attention, memory, models]


def all_cases(small=False):
    return [program for family in FAMILIES for program in family.cases(small)]
