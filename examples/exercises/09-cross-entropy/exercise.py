"""Exercise 9: cross-entropy from logits, and its gradient. The page README.md tells what to do.

Check it with    minigrad exercises check 9
"""

import numpy as np  # noqa: F401


def cross_entropy(logits, targets, *, ignore_index=-100, reduction="mean"):
    """−log of the weight that softmax gives to the target, for each row of logits.

    logits: (..., C). targets: (...), integers from 0 to C − 1; one that equals ignore_index does
    not count, and its loss is 0.
    reduction: "none" returns the losses, of the shape of targets; "sum" their sum; "mean" the sum
    divided by the number of targets that count, or 0 if none does.
    """
    raise NotImplementedError


def cross_entropy_gradient(g, logits, targets, *, ignore_index, reduction):
    """∂L/∂logits, of the shape of logits.

    g: the upstream gradient, of the shape of what cross_entropy returned: that of targets for
    "none", and () for "sum" and "mean".
    """
    raise NotImplementedError


# The engine takes what you wrote as it stands; targets have no gradient, hence None. Take away
# the # and try it:
#
# from minigrad import Tensor, gradcheck, primitive
# example = lambda rng: (rng.normal(size=(2, 3)), rng.integers(0, 3, 2))
# op = primitive(cross_entropy_gradient, None, example=example)(cross_entropy)
# logits = Tensor([[1.0, 2.0, 4.0], [0.0, 0.5, 1.0]], requires_grad=True)
# print(gradcheck(lambda x: op(x, np.array([2, 0])), logits))
