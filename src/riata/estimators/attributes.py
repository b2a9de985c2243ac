"""What training left behind, under the names that scikit-learn's users expect."""

from typing import Any

from riata.training.trained import Course, Trained, one_or_all


def attributes_of(trained: Trained) -> dict[str, Any]:
    """All attributes that a fit gives an estimator, but those about the columns of X."""
    found = {
        "trained_": trained,
        "coef_": trained.coef,
        "intercept_": trained.intercept,
        "solver_": trained.solver,
        "n_iter_": trained.n_iter,
    }
    optional: dict[str, Any] = {
        "classes_": trained.classes,
        "class_count_": trained.class_count,
        "scale_": trained.scale,
        "n_crossing_": trained.n_crossing,
        "cutpoints_": trained.cutpoints,
    }
    found |= {name: value for name, value in optional.items() if value is not None}
    if trained.course is not None:
        found |= _of_course(trained.course) | {"profile_": trained.profile}
    return found


def _of_course(course: Course) -> dict[str, Any]:
    """How the fit went: one value, or a list where there are several classes."""
    found = {
        "alpha_": one_or_all(course.alphas),
        "history_": one_or_all(course.histories),
        "n_passes_": course.passes,
        "gap_": course.gap,
        "objective_": course.objective,
        "converged_": course.converged,
        "stopped_because_": course.reason,
        "stop_": one_or_all([stop.reason for stop in course.stops]),
        "proof_": one_or_all([stop.proof for stop in course.stops]),
    }
    if any(course.bounds):
        found |= {"bound_": one_or_all(course.bounds), "how_much_better_": course.how_much_better}
    if course.searched:
        found |= {
            "path_": one_or_all([one.path for one in course.searched]),
            "selection_": one_or_all([one.selection for one in course.searched]),
        }
    return found
