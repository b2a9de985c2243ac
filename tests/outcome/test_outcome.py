"""Why a fit stopped and what it proved are types; sentences are made from them."""

import json
import typing

import numpy as np
import pytest

from riata.outcome import proofs
from riata.outcome.choice_sentences import why_chosen
from riata.outcome.choices import (
    Choice,
    LastWithinSize,
    LeastScore,
    PathModel,
    ScoredOn,
    Scores,
    WithinOneStandardError,
)
from riata.outcome.plain import bound_from_json, bound_to_json, proof_from_json, proof_to_json
from riata.outcome.proofs import Bound, DualityGap, GlobalBound, NoBound, Proof, SwapOptimal
from riata.outcome.reasons import StopReason
from riata.outcome.sentences import all_bounds, how_much_better, what_is_proved, why, why_all
from riata.outcome.stop import Stop

EXAMPLES = [
    (DualityGap(3.21e-7, 1e-6), "the relative duality gap 3.2e-07 is within 1.0e-06"),
    (DualityGap(3e-7, 1e-6, of_path=True), "the largest relative duality gap of the path, 3.0e-07, is within 1.0e-06"),
    (SwapOptimal(3, 5, 3), "no swap of one of the 3 features for one of the other 5 improves the objective"),
    (SwapOptimal(6, 3, 2), "2 features do as well as 6: no other changes the objective"),
    (SwapOptimal(6, 3, 2, "groups"), "no further group improves the objective"),
    (SwapOptimal(6, 3, 2, n_refitted=0), "to second order, no further feature improves the objective"),
    (
        SwapOptimal(3, 5, 3, n_refitted=1),
        "the swap of one of the 3 features for one of the other 5 that looks best does not improve the objective, "
        "refitted",
    ),
    (
        SwapOptimal(3, 5, 3, "groups", n_refitted=16),
        "no swap of one of the 3 groups for one of the other 5 improves the objective among the 16 that look best, "
        "each refitted",
    ),
    (
        proofs.SwapOptimalPath("groups"),
        "for every size, no swap of one group inside for one outside improves the objective",
    ),
    (
        proofs.SearchedAll(3, 0.0, 40, 30, 2, 17),
        "this is the best model of 3 features there is: 30 of 40 features were ruled out, 2 proved in, and the other "
        "models were searched in 17 parts",
    ),
    (
        proofs.SearchedAll(3, 0.01, 40, 0, 0, 5),
        "no model of 3 features can be more than 1 % better: 0 of 40 features were ruled out, 0 proved in, and the "
        "other models were searched in 5 parts",
    ),
    *(
        (
            proofs.RefittedSupports(n),
            "a quick search along the path came to its end, without a proof; a fit with one k alone searches more "
            "thoroughly",
        )
        for n in (1, 2)
    ),
    (
        proofs.Stationary(2e-9, 1e-6),
        "it is a stationary point: the residual of the optimality conditions, 2.0e-09 of the first slopes, is within "
        "1.0e-06",
    ),
    (proofs.ZeroLoss(), "the loss is within a millionth of zero, which no model can beat: add a ridge"),
    (proofs.AllTaken(3), "all k features have been taken"),
    (proofs.SameSupport(), "a gradient step chooses the same features again"),
    (proofs.NoBetterRound(1), "another round of k features would not lower the loss"),
    (proofs.NoBetterRound(2), "another round of 2k features would not lower the loss"),
]

BOUNDS = [
    (GlobalBound(20, 0.982, 1.0), "no model of 20 features can be more than 1.8 % better"),
    (GlobalBound(1, 0.98199, 1.0, "groups"), "no model of 1 group can be more than 1.9 % better"),
    (GlobalBound(3, 1.0, 1.0), "this is the best model of 3 features there is"),
    (GlobalBound(0, 1.0, 1.0), "this is the best model of 0 features there is"),
    (
        GlobalBound(3, 0.999999, 1.0, limit=2.0),
        "no model of 3 features with coefficients of at most 2 standard deviations can be more than 0.0001 % better",
    ),
    (
        GlobalBound(3, 0.0, 1.0),
        "the bound on other models of 3 features is 0, which says nothing: certify it, or take a larger ridge",
    ),
    (NoBound(3), "without a ridge there is no bound on other models of 3 features"),
    (
        NoBound(3, "groups", 0.0314),
        "without a ridge there is no bound on other models of 3 groups; ridge=0.03 gives one",
    ),
]


def test_classes_without_a_bound_have_one_sentence_with_the_largest_ridge():
    said = "without a ridge there is no bound on other models of"
    assert all_bounds([NoBound(3, ridge=0.01), NoBound(3, ridge=0.02)]) == (
        f"{said} 3 features; ridge=0.02 gives one for every class"
    )
    assert all_bounds([NoBound(1, ridge=0.01), NoBound(3)]) == (
        f"{said} 1 to 3 features; ridge=0.01 may give one for every class"
    )
    assert all_bounds([NoBound(1), NoBound(3)]) == f"{said} 1 to 3 features"


@pytest.mark.parametrize(("bound", "sentence"), BOUNDS, ids=repr)
def test_a_bound_has_its_sentence_and_goes_to_a_file_and_back(bound, sentence):
    assert how_much_better(bound) == all_bounds([bound, None, bound]) == sentence
    assert bound_from_json(json.loads(json.dumps(bound_to_json(bound)))) == bound


def test_no_bound_is_no_sentence():
    assert all_bounds([None]) is None
    assert bound_from_json(bound_to_json(None)) is None
    assert bound_from_json({"kind": "miracle"}) is None


def test_every_kind_of_bound_is_among_the_examples():
    assert {type(bound) for bound, _ in BOUNDS} == set(typing.get_args(Bound))


@pytest.mark.parametrize(("proof", "sentence"), EXAMPLES, ids=repr)
def test_a_proof_has_its_sentence_and_ends_a_fit_that_converged(proof, sentence):
    stop = Stop.proved(proof)
    assert what_is_proved(proof) == why(stop) == sentence
    assert stop.converged


@pytest.mark.parametrize(("proof", "sentence"), EXAMPLES, ids=repr)
def test_a_proof_goes_to_a_file_and_back(proof, sentence):
    assert proof_from_json(json.loads(json.dumps(proof_to_json(proof)))) == proof


def test_what_a_later_version_may_prove_is_left_out():
    assert proof_from_json({"kind": "miracle", "size": 3}) is None
    assert proof_from_json(None) is None


def test_numbers_of_numpy_go_to_a_file():
    assert json.loads(json.dumps(proof_to_json(SwapOptimal(np.int64(3), np.int64(5), 3))))["k"] == 3


def test_every_kind_of_proof_is_among_the_examples():
    assert {type(proof) for proof, _ in EXAMPLES} == set(typing.get_args(Proof))


@pytest.mark.parametrize("reason", StopReason)
def test_every_reason_has_a_sentence_of_its_own(reason):
    said = {why(Stop(other)) for other in StopReason if other is not reason}
    assert why(Stop(reason)) not in said


def test_limits_are_named_with_their_numbers():
    assert why(Stop(StopReason.MAX_PASSES, passes=7)) == "it reached max_passes=7"
    assert why(Stop(StopReason.OBJECTIVE_STALLED, passes=10)) == "the objective has not moved for 10 passes"


def test_a_gap_above_its_tolerance_proves_nothing():
    stop = Stop.reached(DualityGap(2e-3, 1e-6, of_path=True))
    assert stop.reason is StopReason.GAP_ABOVE_TOL
    assert stop.proof is None
    assert not stop.converged
    assert why(stop) == "the largest relative duality gap of the path, 2.0e-03, did not get within 1.0e-06"
    assert not Stop.reached(DualityGap(float("nan"), 1e-6)).converged


def test_a_residual_above_its_tolerance_proves_nothing():
    stop = Stop.reached(proofs.Stationary(2e-3, 1e-6, of_path=True))
    assert stop.reason is StopReason.RESIDUAL_ABOVE_TOL
    assert not stop.converged
    assert why(stop) == "the largest residual of the path, 2.0e-03 of the first slopes, did not get within 1.0e-06"


MODEL, LATER = PathModel("k", 3, 3), PathModel("k", 5, 5)
SCORES = Scores("mse", ScoredOn.FOLDS, 5)
CHOICES = [
    *(
        (
            choice,
            "no feature helps on rows that were held out: the model is a constant, which has the least mean squared "
            "error over 5 folds, 1.25",
        )
        for choice in (
            LeastScore(PathModel("k", 0, 0), SCORES, 1.25),
            WithinOneStandardError(PathModel("k", 0, 0), SCORES, 1.25, 0.5, PathModel("k", 0, 0), 1.25),
        )
    ),
    (LeastScore(MODEL, SCORES, 1.25), "k = 3 has the least mean squared error, 1.25, over 5 folds"),
    (
        LeastScore(PathModel("alpha", 0.125, 1), Scores("mse", ScoredOn.HELD_OUT_ROWS, 30), 1.25, True),
        "alpha = 0.125 (1 feature) has the least mean squared error, 1.25, on 30 rows held out; that is the last "
        "of the path, and a smaller alpha_reach may find a better one",
    ),
    (
        LeastScore(PathModel("alpha", 0.125, 1), SCORES, 1.25, all_but_shrinkage=True),
        "alpha = 0.125 (1 feature) has the least mean squared error, 1.25, over 5 folds; that is the last of the path, "
        "as it leaves hardly any loss: debias='auto' may find a better one",
    ),
    (
        LeastScore(LATER, Scores("bic", ScoredOn.TRAINING_ROWS, 6), 1.25, True),
        "k = 5 has the least BIC, 1.25, of 6 models; that is the last of the path, and a larger k_max may find a better"
        " one",
    ),
    (
        WithinOneStandardError(MODEL, SCORES, 1.25, 0.1, MODEL, 1.25),
        "k = 3 has the least mean squared error over 5 folds, 1.25, and no sparser model comes within one standard "
        "error, 0.1, of it",
    ),
    (
        WithinOneStandardError(MODEL, SCORES, 1.25, 0.1, LATER, 1.2),
        "k = 3 is the sparsest whose mean squared error over 5 folds, 1.25, comes within one standard error, 0.1, of "
        "the least, 1.2 at k = 5",
    ),
    (
        WithinOneStandardError(MODEL, SCORES, 1.25, 0.1, LATER, 1.2, half_of_gain=True),
        "k = 3 is the sparsest whose mean squared error over 5 folds, 1.25, comes within one standard error, 0.1, of "
        "the least, 1.2 at k = 5, and has half of its gain over the emptiest model",
    ),
    (
        WithinOneStandardError(MODEL, SCORES, 1.25, 0.1, MODEL, 1.25, half_of_gain=True),
        "k = 3 has the least mean squared error over 5 folds, 1.25, and no sparser model has half of its gain over the "
        "emptiest one",
    ),
    (
        LastWithinSize(PathModel("alpha", 0.5, 2), 2),
        "alpha = 0.5 (2 features) is the smallest alpha before the path has more than 2 features",
    ),
]


@pytest.mark.parametrize(("choice", "sentence"), CHOICES, ids=repr)
def test_a_choice_has_its_sentence(choice, sentence):
    assert why_chosen(choice) == sentence


def test_every_kind_of_choice_is_among_the_examples():
    assert {type(choice) for choice, _ in CHOICES} == set(typing.get_args(Choice))


def test_what_several_fits_share_is_said_once():
    stops = [Stop(StopReason.ROUNDING), Stop(StopReason.INTERRUPTED), Stop(StopReason.ROUNDING)]
    assert why_all(stops) == "it was interrupted; rounding hides what a further step would gain"
