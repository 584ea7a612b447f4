"""Fisher–Rao geometry of families of distributions, one module per family.

Each has `inner_product`, `norm`, `exp`, `log` and `dist` in closed form, with the names and the order of arguments of
geomstats; `metric_matrix` where points are vectors, and `parallel_transport` where a closed form is known. Only the
logarithm of `normal`, mean and covariance both free, has no known closed form: it is solved for and says whether it has
converged.
"""

from hopfield._arguments import public
from hopfield.geometry.families import categorical, centered_normal, location_normal, normal, univariate_normal

__all__ = ["categorical", "centered_normal", "location_normal", "normal", "univariate_normal"]
__dir__ = public(__all__)
