"""The losses by name: a new one is a file beside this one, and a line here.

A loss with a parameter is named with it, such as `tweedie:1.7`; its name alone stands for the parameter's default.
"""

import re

from riata.errors import OptionError
from riata.losses.binomial import Binomial
from riata.losses.cloglog import Cloglog
from riata.losses.cox import Cox, Efron
from riata.losses.gamma import Gamma
from riata.losses.huber import Huber
from riata.losses.link import Link
from riata.losses.logistic import Logistic
from riata.losses.loss import Loss
from riata.losses.negative_binomial import NegativeBinomial
from riata.losses.numbered import NumberedLoss
from riata.losses.ordinal import Ordinal, ordinal_of
from riata.losses.poisson import Poisson
from riata.losses.probit import Probit
from riata.losses.quantile import Quantile
from riata.losses.quantiles import Quantiles
from riata.losses.softmax import Softmax
from riata.losses.squared import Squared
from riata.losses.squared_hinge import SquaredHinge
from riata.losses.tweedie import Tweedie

LOSSES: dict[str, Loss] = {  # those that are a sum over rows, each of which has one margin
    loss.name.partition(":")[0]: loss
    for loss in (
        Squared(),
        Logistic(),
        Probit(),
        Cloglog(),
        SquaredHinge(),
        Huber(),
        Quantile(),
        Binomial(),
        Poisson(),
        NegativeBinomial(),
        Gamma(),
        Tweedie(),
    )
}
SEVERAL_MARGINS: dict[str, Loss] = {Softmax.name: Softmax()}  # a margin for each class, once these are known
COUPLED: dict[str, Loss] = {loss.name: loss for loss in (Cox(), Efron(), Ordinal())}  # those of rows that go together
EVERY = LOSSES | SEVERAL_MARGINS | COUPLED
NUMBER = re.compile(r"[0-9]*\.?[0-9]+([eE][+-]?[0-9]+)?")  # a parameter, as it is written
AUTO = "auto"  # stands for the usual loss of a task
USUAL = {"regression": Squared.name, "classification": Logistic.name, "survival": Cox.name}  # the defaults


def loss_of(loss: str | Loss) -> Loss:
    """The loss of this name; a `Loss` is returned as it is."""
    if isinstance(loss, Loss):
        return loss
    found = known_loss(loss) if isinstance(loss, str) else None
    if found is None:
        names = ", ".join(one.name for one in EVERY.values())
        raise OptionError(
            f"there is no loss {loss!r}; there are {names}, where a number behind a colon is yours to set"
        )
    return found


def known_loss(name: str) -> Loss | None:
    """The loss of the catalogue that has this name and parameter; None if there is none."""
    family, colon, parameter = name.partition(":")
    usual = EVERY.get(family)
    if usual is None or not colon:
        return usual
    if isinstance(usual, Ordinal):
        return ordinal_of(parameter)
    if isinstance(usual, Quantile) and "," in parameter and all(map(NUMBER.fullmatch, parameter.split(","))):
        return Quantiles([float(level) for level in parameter.split(",")])
    if not isinstance(usual, NumberedLoss) or not NUMBER.fullmatch(parameter):
        return None
    return type(usual)(float(parameter))


def loss_for(task: str, loss: str | Loss) -> Loss:
    """The loss of this name, or this one, if it is for the task: regression, classification or survival."""
    names = [name for name, one in EVERY.items() if task in one.tasks]
    if str(loss) in COUPLED and COUPLED[str(loss)].tasks == ("survival",) and task != "survival":
        raise OptionError(f"loss {loss!r} is of times to an event: name the column that says which happened (event)")
    if not isinstance(loss, Loss) and str(loss).partition(":")[0] not in names:
        raise OptionError(f"loss must be one of {', '.join(names)} here, not {loss!r}")
    if task not in loss_of(loss).tasks:
        raise OptionError(f"loss {loss_of(loss).name!r} is not for {task} but for {' and '.join(loss_of(loss).tasks)}")
    return loss_of(loss)


class Recalled(Loss):
    """A loss outside the catalogue, as read from a model's file: name and link, which is enough to predict."""

    def __init__(self, name: str, link: Link) -> None:
        self.name, self.link = name, link

    def value(self, y: object, z: object) -> object:
        raise self._unknown()

    derivative = second_derivative = value

    def _unknown(self) -> OptionError:
        return OptionError(f"loss {self.name!r} is known by name only: give the loss itself")


def recalled_loss(name: str, link: Link) -> Loss:
    """The loss of a model that was read from a file."""
    return known_loss(name) or Recalled(name, link)
