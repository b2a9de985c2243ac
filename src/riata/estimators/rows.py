"""What X and y may be, and what of them the model sees: in fit, beside it and after it.

Arrays are checked; columns that are no complete numbers become features by an encoding, as those of files do; a
`Dataset`, a Dask collection and rows on a GPU stay what they are.
"""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import _check_feature_names, _check_sample_weight, validate_data

from riata.arrays import is_device_array, unmasked
from riata.data.csr import canonical
from riata.data.dataset import Dataset
from riata.data.formats.tables import check_unique
from riata.data.in_memory import InMemory
from riata.data.offset import given_offsets
from riata.data.opened import is_stream
from riata.data.target_names import names_of_targets
from riata.data.whole_numbers import check_listed, check_sparse, check_whole_numbers
from riata.engines.cuda.on_device import OnDevice, check_device, check_finite
from riata.engines.cuda.transfers import HERE, place_named
from riata.engines.known_rows import has_columns
from riata.engines.open import is_distributed, open_data
from riata.errors import DataError, DataWarning, OptionError
from riata.estimators.columns import (
    checked_values,
    collected,
    has_gaps,
    is_frame,
    may_be_numbers,
    names_of,
    plain_target,
    table_of,
    with_roles,
)
from riata.estimators.input_checks import check_alone, check_values, checked_target, encoded_like, parts_of, with_origin
from riata.estimators.parameters import Parameters
from riata.matrices.cuda import rows_on_gpu
from riata.matrices.host import as_matrix
from riata.matrices.matrix import Matrix
from riata.training.checks import check_exposure
from riata.training.spec import Spec
from riata.training.targets.usual_loss import with_usual_loss
from riata.training.trained import Trained
from riata.user_warnings import warn_user

MOST_WARNED = 5  # columns that a warning names


class TakesRows(Parameters):
    """An estimator that takes rows of every kind; its kind says what targets are."""

    _task: str
    _fitted_to_columns = False  # whether fit got X, and not a dataset, whose features are those of the model
    trained_: Trained  # after a fit

    def _dataset(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        offset: Any = None,
        exposure: Any = None,
        reset: bool = True,
    ) -> Dataset:
        """The rows as they come: arrays checked, columns that are no complete numbers encoded."""
        numeric = self._task != "classification"
        beside = {"weight": sample_weight, "offset": offset, "exposure": exposure}
        targets = names_of_targets(y) if self._task == "regression" else None
        if isinstance(X, Dataset):
            check_alone(y, *beside.values())
            return self._of_task(X)
        if is_distributed(X):
            return self._of_task(open_data(X, y, **beside, task=self._task, memory=self.memory))
        if is_device_array(X):
            y, weight = checked_target(y, sample_weight, X.shape[0], numeric, targets is not None)
            offsets = self._offsets(offset, exposure, len(y))
            on_gpu = self._on_device(X, *self._coded(y, weight), weight, offsets, reset)
            on_gpu.facts = on_gpu.facts.but(targets=targets)
            return with_origin(on_gpu, exposure)
        if y is not None:
            check_values(plain_target(y), numeric)
        X = collected(X)
        if reset and is_frame(X):
            check_unique(names_of(X))
            if not names_of(X):
                raise DataError("X has no columns: there is nothing to learn from")
        if not may_be_numbers(X):
            return self._encoded(X, y, beside, reset)
        several = targets is not None
        numbers, values = self._validated(
            X, plain_target(y), reset=reset, gaps=True, y_numeric=numeric, multi_output=several
        )
        if has_gaps(numbers):
            return self._encoded(X, y, beside, reset)
        weight = _check_sample_weight(plain_target(sample_weight), numbers, dtype=np.float64, ensure_non_negative=True)
        target, classes = self._coded(values, weight)
        offsets, names = self._offsets(offset, exposure, len(target)), getattr(self, "feature_names_in_", None)
        rows = InMemory(numbers, target, weight, names, classes, offset=offsets)
        rows.facts = rows.facts.but(survival=self._task == "survival", targets=targets)
        return with_origin(rows, exposure)

    @property
    def _spec_of_task(self) -> Spec:
        """What is asked for, with the usual loss where none is named: that of two classes, whose rows are to come."""
        return with_usual_loss(self._spec(), self._task)

    def _offsets(self, offset: Any, exposure: Any, n_rows: int) -> np.ndarray | None:
        """The offsets of rows, from what is given beside X; an exposure is for losses of a logarithmic link."""
        check_exposure(self._spec_of_task.loss_function, exposure is not None)
        return given_offsets(plain_target(offset), plain_target(exposure), n_rows)

    def _no_offset(self, X: Any) -> np.ndarray | None:
        """Offsets of 0 for X whose columns become features, where fit got offsets beside such an X; None elsewhere."""
        if self.trained_.offset is None or not self._makes_features or isinstance(X, Dataset | str | Path):
            return None
        return np.zeros(table_of(X).num_rows)

    def _coded(self, y: np.ndarray, weight: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
        """The target as numbers, and the classes that they stand for."""
        raise NotImplementedError

    def _of_task(self, data: Dataset) -> Dataset:
        """The rows, if their target is what is learnt here: classes or numbers."""
        raise NotImplementedError

    def _encoded(self, X: Any, y: Any, beside: dict[str, Any], reset: bool) -> Dataset:
        """Rows whose columns become features by an encoding, which is learnt of them."""
        table = table_of(X, None if reset else getattr(self, "feature_names_in_", None))
        if reset:
            self.n_features_in_ = table.num_columns
            if is_frame(X):
                self.feature_names_in_ = np.array(names_of(X), dtype=object)
                self.n_features_in_ = len(self.feature_names_in_)
        elif table.num_columns != self.n_features_in_:
            raise DataError(f"X has {table.num_columns} columns, and the model {self.n_features_in_}")
        targets = names_of_targets(y) if self._task == "regression" else None
        values = checked_values(y, table.num_rows, self._task != "classification", targets is not None)
        table, target, roles = with_roles(table, values, targets or getattr(y, "name", None), beside)
        weight = None if beside["weight"] is None else np.asarray(plain_target(beside["weight"]))
        _, labels = self._coded(values, weight)
        data = open_data(table, target, **roles, task=self._task, memory=self.memory)
        if reset and data.profile is not None:
            _warn_of_columns(data.profile.left_out)
        if labels is not None and data.classes is not None and len(labels) == len(data.classes):
            data.facts = data.facts.but(classes=labels)  # of the type in which they were given
        return data

    def _validated(
        self, X: Any, y: Any = "no_validation", reset: bool = True, gaps: bool = False, **checks: Any
    ) -> tuple[Any, ...]:
        """X as float64 or float32, dense or canonical CSR, and y unless there is none to check.

        Dense X may have `gaps`, if that is said.
        """
        if gaps and not sp.issparse(X):
            checks["ensure_all_finite"] = "allow-nan"
        X = canonical(X) if sp.issparse(X) and X.ndim == 2 else unmasked(X)
        if reset and isinstance(X, np.ndarray) and X.dtype.kind in "biuf":
            check_whole_numbers(X)
        elif reset and sp.issparse(X):
            check_sparse(X)
        elif reset and (isinstance(X, list | tuple) or _holds_objects(X)):
            check_listed(X)
        elif reset and hasattr(X, "iloc") and X.ndim == 2:
            for j, kind in enumerate(X.dtypes):
                if isinstance(kind, np.dtype) and kind.kind in "iu":
                    check_whole_numbers(X.iloc[:, [j]].to_numpy(), [X.columns[j]])
        checked = validate_data(self, X, y, reset=reset, accept_sparse="csr", dtype=(np.float64, np.float32), **checks)
        return checked if isinstance(checked, tuple) else (checked,)

    def _seen(self, X: Any) -> Matrix:
        """X as the model sees it, at fit and at predict alike."""
        return as_matrix(X).unit_rows() if self.normalize == "rows" else as_matrix(X)

    def _on_device(
        self,
        X: Any,
        y: np.ndarray,
        classes: np.ndarray | None,
        weight: np.ndarray,
        offset: np.ndarray | None = None,
        reset: bool = True,
    ) -> OnDevice:
        """Rows that are on a GPU already, with a target that was checked."""
        if self.device == HERE:
            raise OptionError("X is on a GPU, where passes over it run: leave device='cpu' out, or bring X here")
        place = place_named(self.device or "cuda")
        check_device(self._spec().solver_name)
        if self.normalize is not None:
            raise OptionError("normalize='rows' is for arrays in memory: divide the rows by their norms yourself")
        return OnDevice(place, self._device_rows(X, reset), y, weight, classes=classes, offset=offset)

    def _device_rows(self, X: Any, reset: bool = False) -> Matrix:
        """X on a GPU, of the right width, every entry finite."""
        rows = rows_on_gpu(X)
        if reset:
            self.n_features_in_ = rows.shape[1]
        if rows.shape[1] != self.n_features_in_:
            raise DataError(f"X has {rows.shape[1]} features, and the model {self.n_features_in_}")
        check_finite(rows)
        return rows

    def _validation(self, rows: Any, data: Dataset) -> Dataset | None:
        """The rows that choose among models of the data, with the same features; None where there are none."""
        if rows is None:
            return None
        if self._fitted_to_columns and data.encoding is not None and isinstance(rows, tuple | list):
            X, *others = parts_of(rows)
            rows = self._with_names(X), *map(plain_target, others)
        given = parts_of(encoded_like(data, rows))
        return self._dataset(given.X, given.y, given.weight, **given.offsets(data.facts.offset), reset=False)

    @property
    def _makes_features(self) -> bool:
        """Whether features were made of the columns of the X that fit got, by an encoding."""
        trained = getattr(self, "trained_", None)
        return trained is not None and trained.encoding is not None and self._fitted_to_columns

    def _encodes(self, X: Any) -> bool:
        """Whether the columns of X become features by the model's own encoding; otherwise X is features already."""
        if isinstance(X, Dataset | str | Path) or is_stream(X) or self._makes_features:
            return True
        return getattr(getattr(self, "trained_", None), "encoding", None) is not None and has_columns(X)

    def _with_names(self, X: Any) -> Any:
        """X for the model's encoding, which takes the columns of an array by position."""
        if isinstance(X, Dataset | str | Path) or is_stream(X) or has_columns(X):
            return X
        if sp.issparse(X):
            raise DataError("the model was fitted to columns of several kinds: give it a frame or an array of those")
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            _check_feature_names(self, X, reset=False)  # warns that an array has no names
        table = table_of(X, None if names is None or len(names) != np.shape(X)[-1] else names)
        if table.num_columns != self.n_features_in_:
            raise DataError(f"X has {table.num_columns} columns, and the model was fitted to {self.n_features_in_}")
        return table

    def _filled(self, X: Any) -> Any:
        """X with means in place of gaps, as in rows of files: the model was fitted to rows without any."""
        if not has_gaps(X):
            return X
        means = self.trained_.mean
        if means is None or self.normalize is not None:
            raise DataError(
                "X has gaps (NaN), and the rows that the model learnt from had none to learn from: fill them in"
            )
        return np.where(np.isnan(X), means.astype(X.dtype), X)


def _warn_of_columns(left_out: dict[str, str]) -> None:
    """Warn of columns of X from which no feature was made."""
    if not left_out:
        return
    why = ", ".join(f"{name!r} {reason}" for name, reason in list(left_out.items())[:MOST_WARNED])
    more = f" and {len(left_out) - MOST_WARNED} more" if len(left_out) > MOST_WARNED else ""
    were = "1 column was" if len(left_out) == 1 else f"{len(left_out)} columns were"
    warn_user(DataWarning(f"{were} left out: {why}{more}; see profile_.notes"))


def _holds_objects(X: Any) -> bool:
    """Whether X is an array of Python objects or of words."""
    kind = getattr(getattr(X, "dtype", None), "kind", None)
    return kind in {"O", "U", "S"}
