"""The closed forms: what theory says of a softmax over n independent Gaussian scores.

Given a query q ~ N(0, 1), its scores against keys k ~ N(0, 1) are independent N(0, σ²) with
σ ≈ √d_k, or 1 with the scale. That is the random energy model of physics. Everything here is a
prediction; nothing is measured (`checks` does that), and each law says where it holds.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np

__all__ = ["RandomEnergyModel", "expected_maximum", "median_gap", "score_kurtosis"]


@functools.cache
def expected_maximum(n: int) -> float:
    """Return M_n, the expected largest of n independent standard normal numbers.

    Args:
        n: how many, at least 1.

    Raises:
        ValueError: n is below 1.

    Example:
        >>> [round(expected_maximum(n), 4) for n in (2, 8, 64, 1024)]
        [0.5642, 1.4236, 2.3437, 3.2482]

    Source:
        David and Nagaraja, "Order Statistics", 3rd edition, section 3.1.
    """
    if n < 1:
        raise ValueError(f"the largest of {n} numbers does not exist: n must be at least 1")
    # E[max] = ∫₀^∞ 1 − Φ(x)ⁿ − Φ(−x)ⁿ dx. The integrand is not smooth when mirrored at 0, so the
    # trapezoid rule would be slow to converge; Gauss and Legendre's is not.
    nodes, weights = np.polynomial.legendre.leggauss(200)
    x = 7.0 * (nodes + 1.0)
    below = np.array([0.5 * math.erfc(-value / math.sqrt(2.0)) for value in x])
    above = np.array([0.5 * math.erfc(value / math.sqrt(2.0)) for value in x])
    # 1 − Φⁿ through log1p, because Φ rounds to 1 far out where n may still matter.
    integrand = -np.expm1(n * np.log1p(-above)) - (1.0 - below) ** n
    return float(7.0 * (weights @ integrand))


@functools.cache
def median_gap(n: int) -> float:
    """Return m_n, the median gap between the largest two of n independent standard normals.

    Args:
        n: how many, at least 2.

    Raises:
        ValueError: n is below 2.

    Example:
        >>> [round(median_gap(n), 4) for n in (2, 8, 64)]
        [0.9539, 0.4429, 0.2821]

    Source:
        David and Nagaraja, "Order Statistics", 3rd edition, section 2.3.
    """
    if n < 2:
        raise ValueError(f"there is no gap between {n} numbers: n must be at least 2")
    # P(gap > x) = n ∫ φ(t) Φ(t − x)ⁿ⁻¹ dt, which falls from 1 to 0 as x grows.
    nodes, weights = np.polynomial.legendre.leggauss(200)
    t = 9.0 * nodes
    density = 9.0 * n * weights * np.exp(-(t**2) / 2.0) / math.sqrt(2.0 * math.pi)
    low, high = 0.0, 2.0
    for _ in range(50):
        middle = (low + high) / 2.0
        below = np.array([0.5 * math.erfc((middle - value) / math.sqrt(2.0)) for value in t])
        if density @ below ** (n - 1) > 0.5:
            low = middle
        else:
            high = middle
    return low


def score_kurtosis(d_k: int) -> float:
    """Return the kurtosis of q·k for q, k ~ N(0, 1): 3 + 6/d_k, where a Gaussian has 3.

    Example:
        >>> score_kurtosis(16)
        3.375
    """
    return 3.0 + 6.0 / d_k


@dataclass(frozen=True, slots=True)
class RandomEnergyModel:
    """Softmax over `keys` independent N(0, spread²) scores, p its weights.

    Two laws meet near spread² = 2 ln n: below it ("liquid") the weights are shared by many keys,
    above it ("frozen") a handful of keys holds them all. J is the softmax Jacobian.

    Attributes:
        keys: n, how many keys a query can choose from.
        spread: σ, the standard deviation of what enters the softmax.

    Raises:
        ValueError: fewer than two keys, or a spread that is not positive.

    Example:
        >>> unscaled = RandomEnergyModel(keys=64, spread=32.0)
        >>> round(unscaled.dead_rows(), 3), unscaled.frozen
        (0.714, True)

    Source:
        Derrida 1981, "Random-energy model: An exactly solvable model of disordered systems".
    """

    keys: int
    spread: float

    def __post_init__(self) -> None:
        """Refuse what the laws do not cover."""
        if self.keys < 2 or not self.spread > 0:
            raise ValueError(
                f"a softmax over {self.keys} keys with spread {self.spread} has no closed form: "
                "give at least 2 keys and a positive spread"
            )

    @property
    def frozen(self) -> bool:
        """Whether σ² > 2 ln n; without the scale, σ² is d_k."""
        return self.spread**2 > 2.0 * math.log(self.keys)

    @property
    def order(self) -> float:
        """M_n/σ, the small number that every frozen law is a multiple of."""
        return expected_maximum(self.keys) / self.spread

    @property
    def liquid_entropy(self) -> float:
        """The mean entropy in nats while σ is small: ln n − σ²/2, up to e^{σ²}/n."""
        return math.log(self.keys) - self.spread**2 / 2.0

    @property
    def liquid_participation(self) -> float:
        """The mean of Σp² while σ is small: e^{σ²}/n, up to a relative 2e^{2σ²}/n."""
        return math.exp(self.spread**2) / self.keys

    @property
    def frozen_trace(self) -> float:
        """The mean of tr J = 1 − Σp² when frozen: M_n/σ."""
        return self.order

    @property
    def frozen_missing_weight(self) -> float:
        """The mean of 1 − max p when frozen: ln 2 · M_n/σ."""
        return math.log(2.0) * self.order

    @property
    def frozen_entropy(self) -> float:
        """The mean entropy in nats when frozen: (π²/6)·M_n/σ."""
        return math.pi**2 / 6.0 * self.order

    @property
    def frozen_jacobian_square(self) -> float:
        """The mean of ‖J‖_F² when frozen: M_n/(3σ)."""
        return self.order / 3.0

    @property
    def log2_median_trace(self) -> float:
        """The logarithm to base 2 of the median of tr J when frozen: 1 − σ/M_n.

        The mean falls like 1/σ, the median like 2 to the power −σ/M_n: that is how a typical
        row dies while the mean looks healthy.
        """
        return 1.0 - 1.0 / self.order

    def typical_gradient(self, upstream: float = 1.0) -> float:
        """Return the median norm of a row of ∂L/∂S when frozen: √2·e^{−γ/2 − σ·m_n} × upstream.

        Two keys matter in a frozen row. The second has the weight e^{−gap}, and the gradient is
        e^{−gap}·(g₁ − g₂) at the one and its negative at the other, with g the upstream. A median
        over widely spread gaps sees the geometric mean of |g₁ − g₂|, hence Euler's γ.

        Args:
            upstream: the standard deviation of the gradient at each weight.

        Example:
            >>> f"{RandomEnergyModel(keys=8, spread=32.0).typical_gradient():.1e}"
            '7.4e-07'
        """
        second = math.exp(-self.spread * median_gap(self.keys))
        return math.sqrt(2.0) * math.exp(-np.euler_gamma / 2.0) * second * upstream

    def dead_rows(self, threshold: float = 0.99) -> float:
        """Return the share of rows whose largest weight exceeds the threshold, when frozen.

        Args:
            threshold: between ½ and 1.

        Example:
            >>> round(RandomEnergyModel(keys=64, spread=32.0).dead_rows(0.5), 3)
            1.0
        """
        return math.exp(-math.log(threshold / (1.0 - threshold)) * self.order)

    def query_gradient_rms(self, upstream: float = 1.0) -> float:
        """Return the frozen RMS of ‖∂L/∂q‖ without the scale, σ√(M_n/(3σ)) × upstream.

        With σ = √d_k it grows like the fourth root of d_k.

        Args:
            upstream: the standard deviation of the gradient at each weight; for V and ∂L/∂Z
                drawn from N(0, 1) it is the root of V's width.

        Example:
            >>> round(RandomEnergyModel(keys=16, spread=32.0).query_gradient_rms(), 2)
            4.34
        """
        return self.spread * math.sqrt(self.frozen_jacobian_square) * upstream
