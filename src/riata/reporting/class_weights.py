"""What rows of each class counted in a fit, for people to read."""

from collections.abc import Mapping

from riata.model.model import Model

SHIFTED = "probabilities are shifted towards classes of more weight, and are not frequencies of rows"


def weights_in_words(model: Model) -> str | None:
    """The weights by class, and what they do to probabilities; None where no class had one of its own."""
    asked = model.training.parameters.get("class_weight")
    if model.classes is None or not asked:
        return None
    shares = model.training.baseline
    if isinstance(asked, Mapping):
        by_label = {str(label): weight for label, weight in asked.items()}  # of a file, labels are strings
        weights = [by_label.get(str(label), 1.0) for label in model.classes]
    elif shares is not None and all(shares):
        weights = [1.0 / (len(shares) * share) for share in shares]
    else:
        return f"classes are balanced; {SHIFTED}"
    said = ", ".join(f"{label} {weight:.4g}" for label, weight in zip(model.classes, weights, strict=True))
    return f"weight of a row by class: {said}{' (balanced)' if asked == 'balanced' else ''}; {SHIFTED}"
