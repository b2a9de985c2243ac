"""What people call the scores that reports and JSON name by a key."""

SCORE_NAMES = {
    "r2": "R2", "rmse": "RMSE", "mae": "MAE", "mse": "mean squared error",
    "accuracy": "accuracy", "auc": "AUC", "log_loss": "log loss",
    "d2_pinball": "pinball loss explained", "pinball_loss": "pinball loss", "coverage": "at or below the prediction",
    "crossing": "rows in which they cross",
    "concordance": "concordance", "deviance_explained": "deviance explained",
    "aic": "AIC", "bic": "BIC", "ebic": "EBIC",
}  # fmt: skip


def score_name(key: str) -> str:
    """The name of a score, or the key where it is a word itself."""
    return SCORE_NAMES.get(key, key)
