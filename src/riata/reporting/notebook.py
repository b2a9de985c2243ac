"""What a notebook shows of a fitted estimator: its largest features, how sure it is and what it cost, in a few lines.

Plain HTML without scripts, in the notebook's own colours.
"""

from html import escape

import numpy as np

from riata.data.columns.hashed import SPACE
from riata.model.model import Model
from riata.model.training_facts import TrainingFacts

TOP = 10
STYLE = """<style>
.riata-fit { font-size: 0.92em; max-width: 46em; margin-bottom: 0.6em; }
.riata-fit table { border-collapse: collapse; margin: 0.4em 0; }
.riata-fit td, .riata-fit th { padding: 0.1em 0.8em 0.1em 0; text-align: left; border: 0; background: none; }
.riata-fit .number { text-align: right; font-variant-numeric: tabular-nums; }
.riata-fit .bar { display: inline-block; height: 0.7em; border-radius: 2px; background: #2a6fd1; min-width: 1px; }
.riata-fit .negative { background: #d9541e; }
</style>"""


def summary_html(name: str, model: Model) -> str:
    """A fitted model, named after its estimator."""
    ranked = model.ranked
    one_by_one = len(model.intercept) > 1 and model.word_of_outputs == "class" and not model.link_function.sums_to_one
    there_are = "any number of" if model.n_features == SPACE else f"{model.n_features:,}"
    title = f"{name}: {len(ranked):,} of {there_are} features"
    largest = max((abs(effect).max() for _, _, effect in ranked), default=0.0) or 1.0
    rows = "".join(_row(feature, effect, coef, largest) for feature, coef, effect in ranked[:TOP])
    heads = "".join(f'<th class="number">{escape(head)}</th>' for head in _heads(model))
    head = f"<thead><tr><th>feature</th>{heads}<th>effect of one deviation</th></tr></thead>"
    table = f"<table>{head}<tbody>{rows}</tbody></table>"
    more = f"<div>and {len(ranked) - TOP:,} more</div>" if len(ranked) > TOP else ""
    of = " (one against the rest)" if one_by_one else ""
    return (
        f'{STYLE}<div class="riata-fit"><strong>{escape(title)}</strong><div>{escape(model.objective)}{of}</div>'
        f"{table if ranked else ''}{more}{_certificate(model.training)}</div>"
    )


def _heads(model: Model) -> list[str]:
    return ["coefficient"] if len(model.intercept) == 1 else model.outputs


def _row(feature: str, effect: np.ndarray, coef: np.ndarray, largest: float) -> str:
    """A feature with its coefficients, and a bar for the largest of its effects."""
    size = effect[abs(effect).argmax()]
    cells = "".join(f'<td class="number">{c:.4g}</td>' for c in coef)
    sign = " negative" if size < 0 else ""
    bar = f'<span class="bar{sign}" style="width:{8 * abs(size) / largest:.2f}em"></span> {size:+.3g}'
    return f"<tr><td>{escape(feature)}</td>{cells}<td>{bar}</td></tr>"


def _certificate(training: TrainingFacts) -> str:
    """Why it stopped, and what it cost."""
    if training.stopped_because is None:
        return "<div>learnt from a stream</div>"
    state = "converged" if training.converged else "stopped early"
    cost = f"{training.passes:g} passes, {training.seconds:.2g} s"
    return f"<div>{escape(training.solver or '')} {state}: {escape(training.stopped_because)}; {cost}</div>"
