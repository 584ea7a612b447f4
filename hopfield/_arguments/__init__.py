"""Checks of arguments at the boundary, before anything is traced: each raises one sentence that names the argument.

On the host, `host`, in numpy: `real` and `whole` are judged by value, 2.0 being whole, `integer` by type; a plural is
an array. Of what may be traced, `scalars` and `arrays`: the name ends in what is returned, type and shape are checked
under jit as well, and the values of a range become NaN outside it. `words` checks texts, `objects` everything else.

| check             | takes                                 | range                              | returns          |
|-------------------|---------------------------------------|------------------------------------|------------------|
| `flag`            | a truth value, host                   |                                    | bool             |
| `integer`         | one, of integer type, host            | from `least`, else 1               | int              |
| `axis_of`         | one, of integer type, host            | axes of an array                   | int              |
| `real`            | one, host                             | finite, in the limits given        | float            |
| `reals`           | many, host                            | finite, in the limits given        | float64 array    |
| `whole_number`    | one, host                             | from `least`                       | int              |
| `whole_numbers`   | many, host                            | from `least`                       | float64 array    |
| `step_limit`      | one, of integer type, host or traced  | from `least`, else 1, to 2³¹ − 1   | int, or as given |
| `number_scalar`   | one, host or traced                   | any, NaN and infinity included     | as given         |
| `real_scalar`     | one, host or traced                   | `low` to `high`, else finite       | as given         |
| `positive_scalar` | one, host or traced                   | positive and finite in `dtype`     | JAX scalar       |
| `boolean_array`   | truth values, host or traced          | of a `shape`                       | JAX array        |
| `integer_array`   | many, of integer type, host or traced | from 0                             | JAX array        |
| `real_array`      | many, host or traced                  | any, NaN and infinity included     | JAX array        |
| `real_rows`       | many, host or traced                  | any, of at least so many axes      | JAX array        |
| `real_vector`     | many [N], host or traced              | any, of the shape of `like`        | JAX array        |
| `real_matrix`     | many [A, B], host or traced           | finite, none of the axes empty     | JAX array        |
| `spin_matrix`     | many [A, B], host or traced           | −1 and +1, none of the axes empty  | JAX array        |
| `positive_array`  | many, host or traced                  | positive (and finite) in `dtype`   | JAX array        |
| `one_of`          | a text                                | `members` of a closed set          | the member       |
| `parse_number`    | a text, without a name                | digits of `int` or `float`         | int or float     |
| `instance`        | an object                             | of one of the classes `kinds`      | as given         |
| `random_key`      | an object                             | one key of JAX                     | as given         |
| `as_path`         | a text or a path                      |                                    | Path             |

`methods` checks the arrays of methods for a base class, whatever its subclasses define: `check_methods` with
`of_scores`, `of_state`, `of_field` and `of_patterns`.

Beside them: `native`, an array in this machine's byte order; `plain`, a result without axes as a scalar; `shown` and
`in_line`, a value in a sentence; `nearest`, the name that a wrong one may stand for; `public`, the `__dir__` of a
module. Of `theory`, which is numpy and scipy alone, arguments are checked by `host` and `words`. Parts of a memory:
`hopfield._parts`; states and units held fixed: `hopfield._arrays`; rows that attention compares:
`hopfield.attention._arguments`.
"""

from hopfield._arguments.arrays import (
    boolean_array,
    integer_array,
    positive_array,
    real_array,
    real_matrix,
    real_rows,
    real_vector,
    spin_matrix,
)
from hopfield._arguments.host import (
    Float,
    axis_of,
    flag,
    integer,
    native,
    plain,
    real,
    reals,
    whole_number,
    whole_numbers,
)
from hopfield._arguments.methods import check_methods, of_field, of_patterns, of_scores, of_state
from hopfield._arguments.objects import as_path, instance, random_key
from hopfield._arguments.scalars import number_scalar, positive_scalar, real_scalar, step_limit
from hopfield._arguments.words import in_line, nearest, one_of, parse_number, public, shown
