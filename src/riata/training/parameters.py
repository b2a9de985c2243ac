"""Every parameter, declared once: its name, its default, what it means and how it is spelled on a command line.

`Spec`, the constructors of the estimators, `riata.open`, the options of the commands and the code that a report prints
to repeat a fit all follow these declarations; `tests/training/test_parameters.py` compares them. Nothing is imported
here, so that `riata --help` is quick.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Section(Enum):
    """What a parameter is about."""

    COLUMNS = "what the columns of the data are"
    READING = "how data is read"
    STRENGTH = "how sparse the model is"
    MODEL = "what is minimised"
    SELECTION = "how a model of a path is chosen"
    SOLVER = "how it is solved"
    WORK = "where the work is done, and how much of it is kept"


class Heading(Enum):
    """Under which heading the help of a command lists an option."""

    FIRST = "What matters most"
    DATA = "Data"
    MODEL = "Model"
    SELECTION = "Selection"
    OUTPUT = "Output"
    SOLVER = "Solver"
    SPEED = "Speed and memory"


HEADINGS = {
    Section.COLUMNS: Heading.DATA,
    Section.READING: Heading.DATA,
    Section.STRENGTH: Heading.MODEL,
    Section.MODEL: Heading.MODEL,
    Section.SELECTION: Heading.SELECTION,
    Section.SOLVER: Heading.SOLVER,
    Section.WORK: Heading.SPEED,
}


class Kind(Enum):
    """How the words of a command line become a value."""

    TEXT = "text"
    WHOLE = "a whole number"
    NUMBER = "a number"
    WHOLE_OR_AUTO = "a whole number, or auto"
    NUMBER_OR_AUTO = "a number, or auto"
    WHOLE_OR_FULL = "a whole number, or full"
    FLAG = "given or not"
    SWITCH = "--this or --no-this"
    NAMES = "names, with commas between them"
    CROSSES = "groups of names, one each time"
    GROUPS = "columns, or groups of names, one each time"
    FACTORS = "NAME=NUMBER, one each time"
    BOUNDS = "NAME=LEAST..MOST, one each time"
    WEIGHTS = "balanced, or LABEL=NUMBER, one each time"
    SETTINGS = "KEY=VALUE, one each time"
    FOLDER = "a folder"
    GAP = "a share, or nothing for 0"
    SHARE = "a share, auto, or nothing for 1"


SAME = object()  # a default of the command line that is the one in Python
OPENING = (Section.COLUMNS, Section.READING)


@dataclass(frozen=True)
class Parameter:
    """One parameter."""

    name: str  # in `Spec`, or as an argument of `riata.open`
    default: Any
    section: Section
    kind: Kind
    help: str  # one line
    choices: tuple[str, ...] = ()  # the only values there are
    option: str | None = ""  # how a command line spells it; None: not at all, and "": as its name
    option_default: Any = SAME  # where a command line has another
    metavar: str | None = None
    estimator: str = ""  # its name in the constructors of estimators, where it is another
    commands: tuple[str, ...] = ("fit",)  # that take it
    named: str = ""  # its name among the options of a command, where another parameter has the same one
    listed: Heading | None = None  # where the help lists it, if not where its section is

    @property
    def heading(self) -> Heading:
        """Where the help lists it."""
        return self.listed or HEADINGS[self.section]

    @property
    def key(self) -> str:
        """Its name among the options of a command."""
        return self.named or self.name

    @property
    def flag(self) -> str | None:
        """The option, as it is typed."""
        return f"--{self.name.replace('_', '-')}" if self.option == "" else self.option

    @property
    def argument(self) -> str:
        """Its name in the constructors of estimators."""
        return self.estimator or self.name

    @property
    def on_command_line(self) -> Any:
        """The default there."""
        return self.default if self.option_default is SAME else self.option_default


# commands by what they do
ANY_DATA = ("fit", "path", "stability", "profile", "convert", "statistics")
ANY_ROWS = (*ANY_DATA, "predict", "evaluate")
FITS = ("fit", "path", "stability")
SEARCHES = ("fit", "path")
DIVIDING_ROWS = ("fit", "path", "stability", "statistics")

PARAMETERS: tuple[Parameter, ...] = (
    # What the columns of the data are.
    Parameter("target", None, Section.COLUMNS, Kind.TEXT,
              "Column (or array, or file) to predict; several targets: a,b,c.", commands=ANY_DATA,
              listed=Heading.FIRST),
    Parameter("event", None, Section.COLUMNS, Kind.TEXT,
              "Column of 1 and 0: whether the event happened at the time in --target, or the row is censored there; "
              "status=2: it happened where status is 2.",
              metavar="COLUMN[=VALUE]", commands=ANY_DATA),
    Parameter("trials", None, Section.COLUMNS, Kind.TEXT,
              "Column with the number of trials of which the target counts successes: --loss binomial.",
              metavar="COLUMN", commands=ANY_DATA),
    Parameter("weight", None, Section.COLUMNS, Kind.TEXT, "Column of weights.", commands=ANY_DATA),
    Parameter("offset", None, Section.COLUMNS, Kind.TEXT, "Column that is added to the margin of each row.",
              metavar="COLUMN", commands=ANY_ROWS),
    Parameter("exposure", None, Section.COLUMNS, Kind.TEXT,
              "Column of exposures, such as years: the expected count or amount is proportional to it.",
              metavar="COLUMN", commands=ANY_ROWS),
    Parameter("groups", None, Section.COLUMNS, Kind.TEXT,
              "Column of groups, such as customers: folds and halves keep the rows of each together.",
              option="--group-by", metavar="COLUMN", commands=DIVIDING_ROWS, named="row_groups",
              listed=Heading.SELECTION),
    Parameter("time", None, Section.COLUMNS, Kind.TEXT,
              "Column of times: each fold is scored by models fitted to earlier rows.", metavar="COLUMN",
              commands=("fit", "path", "statistics"), listed=Heading.SELECTION),
    Parameter("folds", None, Section.COLUMNS, Kind.TEXT, "Column of fold numbers.", metavar="COLUMN",
              commands=("fit", "path", "statistics"), listed=Heading.SELECTION),
    Parameter("strata", None, Section.COLUMNS, Kind.TEXT,
              "Column of strata, with --event: each has its own baseline hazard.", metavar="COLUMN",
              commands=FITS),
    Parameter("entry", None, Section.COLUMNS, Kind.TEXT,
              "Column of times, with --event: when observation of a row began.", metavar="COLUMN", commands=FITS),
    Parameter("features", None, Section.COLUMNS, Kind.NAMES, "Columns to use [default: all others].",
              commands=ANY_DATA),
    Parameter("drop", (), Section.COLUMNS, Kind.NAMES, "Columns to leave out.", commands=ANY_DATA,
              listed=Heading.FIRST),
    Parameter("categorical", (), Section.COLUMNS, Kind.NAMES,
              "Columns to treat as categories, even if they look like numbers.",
              commands=ANY_DATA),
    Parameter("text", (), Section.COLUMNS, Kind.NAMES, "Columns of free text.", commands=ANY_DATA),
    Parameter("crosses", (), Section.COLUMNS, Kind.CROSSES,
              "Columns whose combined levels are features, too; all: every pair of categorical columns; may be "
              "repeated.", option="--cross", metavar="all|COLUMN,COLUMN", commands=ANY_DATA),
    Parameter("interactions", (), Section.COLUMNS, Kind.CROSSES,
              "Columns whose products are features, too: numbers with numbers or with levels. Of several columns all "
              "pairs; all: those of all columns; may be repeated.", option="--interaction", metavar="all|COLUMN,COLUMN",
              commands=ANY_DATA),
    Parameter("ngrams", 1, Section.COLUMNS, Kind.WHOLE,
              "Also count runs of up to this many neighbouring words in text.",
              commands=ANY_DATA),
    Parameter("stop_words", (), Section.COLUMNS, Kind.NAMES,
              "Words of text to ignore; english stands for a list of them.",
              commands=ANY_DATA),
    Parameter("min_rows", None, Section.COLUMNS, Kind.WHOLE,
              "Fewest rows that a word of text must be in to be a feature [default: 5].", commands=ANY_DATA),
    Parameter("tfidf", False, Section.COLUMNS, Kind.FLAG,
              "Weight words of text by tf-idf: words of many rows count less, and each text has length 1.",
              commands=ANY_DATA),
    Parameter("max_levels", 10_000, Section.COLUMNS, Kind.WHOLE, "Columns with more levels than this are hashed.",
              commands=ANY_DATA),
    Parameter("max_words", 50_000, Section.COLUMNS, Kind.WHOLE,
              "Words that are kept of a column of text, those of most rows.",
              commands=ANY_DATA),
    Parameter("hash_text", False, Section.COLUMNS, Kind.FLAG,
              "Hash words and keep no list of them: less memory.",
              commands=ANY_DATA),
    Parameter("hash_bits", None, Section.COLUMNS, Kind.WHOLE,
              "Bits of hashes of levels, words and names [default: 16, or 20 for Vowpal Wabbit's format].",
              commands=ANY_DATA),
    Parameter("task", "auto", Section.COLUMNS, Kind.TEXT,
              "auto: classification if the target is text or has two values.",
              choices=("auto", "classification", "regression", "survival"), commands=ANY_DATA),
    Parameter("positive", None, Section.COLUMNS, Kind.TEXT,
              "Which of two classes is positive [default: the last by name].", metavar="LABEL",
              commands=("fit", "path", "stability", "profile", "convert")),
    Parameter("sample_negatives", None, Section.COLUMNS, Kind.NUMBER,
              "Keep only this share of the rows whose target is not above 0, and give them more weight for it.",
              metavar="SHARE", commands=FITS),
    # How data is read.
    Parameter("memory", None, Section.READING, Kind.TEXT,
              "Memory budget, such as 2GB [default: 512MB].", commands=ANY_ROWS,
              listed=Heading.SPEED),
    Parameter("on_error", "raise", Section.READING, Kind.TEXT,
              "What to do with bad rows of text files: stop with an error, or skip and count them.",
              choices=("raise", "skip"),
              commands=ANY_ROWS),
    Parameter("csv", None, Section.READING, Kind.SETTINGS,
              "Dialect of text files, such as decimal=, or 'dates=day first'; may be repeated.",
              metavar="KEY=VALUE", commands=ANY_ROWS),
    Parameter("cache", True, Section.READING, Kind.SWITCH,
              "Keep encoded rows of slow formats in a temporary file for later passes.", commands=ANY_ROWS,
              listed=Heading.SPEED),
    Parameter("engine", None, Section.READING, Kind.TEXT, "Let the workers of a cluster read DATA.", choices=("dask",),
              commands=ANY_ROWS, listed=Heading.SPEED),
    Parameter("follow", False, Section.READING, Kind.FLAG,
              "Keep reading while a text file grows or files appear in a folder, until Ctrl-C (solvers for streams)."),
    Parameter("one_pass", False, Section.READING, Kind.FLAG,
              "Read files only once, in order: the first rows define the columns (solvers for streams).",
              listed=Heading.SPEED),
    Parameter("growing", False, Section.READING, Kind.FLAG,
              "Files are added to a folder or pattern: read each once, when it is complete; with --checkpoint and "
              "--resume, only the new ones (solvers for streams)."),
    Parameter("n_features", None, Section.READING, Kind.WHOLE,
              "Number of features of sparse rows, if the first rows of a stream do not show it."),
    # How sparse the model is.
    Parameter("k", None, Section.STRENGTH, Kind.WHOLE_OR_AUTO,
              "At most this many features (for each of several classes); auto: --select chooses.",
              commands=("fit", "stability"), listed=Heading.FIRST),
    Parameter("alpha", None, Section.STRENGTH, Kind.NUMBER_OR_AUTO,
              "Strength of the L1 penalty; auto: --select chooses.", commands=("fit", "stability"),
              listed=Heading.FIRST),
    Parameter("alpha_ratio", None, Section.STRENGTH, Kind.NUMBER,
              "Alpha as a share of the smallest one whose model has no features, such as 0.1.",
              commands=("fit", "stability")),
    Parameter("l1_ratio", 1.0, Section.STRENGTH, Kind.NUMBER,
              "Share of the L1 penalty in an elastic net.", commands=SEARCHES),
    Parameter("ridge", None, Section.STRENGTH, Kind.NUMBER,
              "Strength of a squared (L2) penalty with --k [default: 0; with --k auto it is chosen, too].",
              commands=SEARCHES),
    Parameter("penalty", None, Section.STRENGTH, Kind.TEXT,
              "In place of L1: mcp, scad or lq, which shrink large coefficients less; adaptive, with weights from a "
              "first fit; unilasso, of predictions by single features.",
              commands=FITS),
    Parameter("penalty_factors", None, Section.STRENGTH, Kind.FACTORS,
              "Multiply the penalty of a feature or column; 0: always in, and not counted by --k; may be "
              "repeated.",
              option="--penalty-factor", commands=SEARCHES),
    Parameter("groups", None, Section.STRENGTH, Kind.GROUPS,
              "Features or columns that enter or leave together, one group each time it is given; columns: all "
              "features of a column (levels, parts of a date) are a group. --k counts groups.",
              metavar="columns|NAME,...", commands=SEARCHES),
    Parameter("group_ratio", 1.0, Section.STRENGTH, Kind.NUMBER,
              "Share of the group Lasso, with --groups and --alpha; the rest is L1 within groups.",
              commands=SEARCHES),
    Parameter("heredity", None, Section.STRENGTH, Kind.TEXT,
              "Allow interactions only together with both (strong) or one (weak) of their features.",
              choices=("strong", "weak"), commands=SEARCHES),
    Parameter("shared_support", None, Section.STRENGTH, Kind.SWITCH,
              "Choose features for all targets together (the default), or for all classes of --loss softmax.",
              commands=SEARCHES),
    Parameter("nonnegative", False, Section.STRENGTH, Kind.FLAG, "Allow no negative coefficients.",
              commands=SEARCHES),
    Parameter("bounds", None, Section.STRENGTH, Kind.BOUNDS,
              "Bounds on the coefficients of a feature or column, such as price=..0 or share=0..1, or an order of "
              "levels, such as grade=increasing, 'size=S<M<L'; may be repeated.",
              option="--bound", metavar="NAME=LEAST..MOST", commands=SEARCHES),
    # What is minimised.
    Parameter("loss", "squared", Section.MODEL, Kind.TEXT,
              "squared, huber, quantile, binomial, poisson, negative-binomial, gamma, tweedie; logistic, probit, "
              "cloglog, softmax, ordinal, squared-hinge; cox.",
              option_default=None, commands=FITS),
    Parameter("class_weight", None, Section.MODEL, Kind.WEIGHTS,
              "Weight of the rows of a class, or balanced; may be repeated.", commands=FITS),
    Parameter("threshold", None, Section.MODEL, Kind.NUMBER,
              "Predict the second of two classes if its probability is at least this [default: 0.5]."),
    Parameter("solver", "auto", Section.SOLVER, Kind.TEXT,
              "Name of the solver (docs/solvers.md); auto: exact for --alpha, best-k for --k."),
    Parameter("fit_intercept", True, Section.MODEL, Kind.SWITCH,
              "Fit an intercept, which is never penalised.",
              option="--intercept/--no-intercept", commands=FITS),
    Parameter("standardize", True, Section.MODEL, Kind.SWITCH,
              "Penalise as if all columns had unit standard deviation.", commands=FITS),
    Parameter("normalize", None, Section.MODEL, Kind.TEXT, "Divide every row by its norm.", choices=("rows",),
              commands=FITS),
    # How a model of a path is chosen.
    Parameter("select", "cv-1se", Section.SELECTION, Kind.TEXT, "cv-1se [default], cv, validation, aic, bic or ebic.",
              option_default=None, commands=SEARCHES),
    Parameter("cv", 5, Section.SELECTION, Kind.WHOLE, "Number of folds; each has the same shares of the classes.",
              commands=SEARCHES),
    Parameter("gap", 0, Section.SELECTION, Kind.TEXT,
              "Time between training rows and scored rows, with --time: days for dates, or such as 12h.",
              option_default=None, commands=SEARCHES),
    Parameter("n_alphas", 100, Section.SELECTION, Kind.WHOLE,
              "Number of alphas of a path [default: 100].", option_default=None,
              commands=SEARCHES),
    Parameter("alpha_reach", None, Section.SELECTION, Kind.NUMBER,
              "Smallest alpha of a path, as a share of its largest [default: 0.0001, or 0.01 with fewer rows than "
              "features].", commands=SEARCHES),
    Parameter("k_max", None, Section.SELECTION, Kind.WHOLE, "Largest k of a path [default: 50].", commands=SEARCHES),
    Parameter("debias", False, Section.SELECTION, Kind.SHARE,
              "Refit the chosen features without the penalty, and go all of the way there, or a share of it; "
              "auto: --select chooses, with --alpha auto.", metavar="[SHARE]", commands=SEARCHES, listed=Heading.MODEL),
    # How it is solved.
    Parameter("certify", None, Section.SOLVER, Kind.GAP,
              "Search until no model of k features can be better, or none by more than the share GAP.",
              metavar="[GAP]", listed=Heading.MODEL),
    Parameter("coef_limit", None, Section.SOLVER, Kind.NUMBER,
              "Bound only models whose coefficients, of columns of unit deviation, are at most this.",
              listed=Heading.MODEL),
    Parameter("certify_time", "600s", Section.SOLVER, Kind.TEXT, "Time limit of --certify.", listed=Heading.MODEL),
    Parameter("tol", 1e-6, Section.SOLVER, Kind.NUMBER,
              "Tolerance: how far the objective may be from its minimum, as a share of the loss without features.",
              commands=FITS),
    Parameter("max_passes", None, Section.SOLVER, Kind.WHOLE, "Stop after this many passes."),
    Parameter("max_steps", None, Section.SOLVER, Kind.WHOLE, "Stop after this many steps."),
    Parameter("batch", None, Section.SOLVER, Kind.WHOLE_OR_FULL,
              "Rows per step: a number, or 'full' [default: the solver's own]."),
    Parameter("rounds", False, Section.SOLVER, Kind.FLAG,
              "Half the penalty in the first half of the steps (solver fobos)."),
    Parameter("step", None, Section.SOLVER, Kind.TEXT, "First step, or a schedule such as 2/t or 1/sqrt(t)."),
    Parameter("order", None, Section.SOLVER, Kind.TEXT,
              "Order in which rows are visited [default: the solver's own].",
              choices=("uniform", "shuffled", "sequential")),
    Parameter("half_life", None, Section.SOLVER, Kind.NUMBER,
              "Number of rows after which a row counts half, for data that drifts (solver online)."),
    Parameter("polish", False, Section.SOLVER, Kind.FLAG,
              "After an online pass, fit the features that it found exactly, with a certificate.",
              listed=Heading.MODEL),
    # Where the work is done.
    Parameter("memory", None, Section.WORK, Kind.TEXT, "Budget of the solver, such as 512MB.", option=None),
    Parameter("device", None, Section.WORK, Kind.TEXT, "Run passes on a GPU: cuda (exact, best-k, paths).",
              choices=("cpu", "cuda"), commands=FITS),
    Parameter("checkpoint", None, Section.WORK, Kind.FOLDER,
              "Folder in which a long fit saves its state, to be resumed."),
    Parameter("every", "60s", Section.WORK, Kind.TEXT, "Time between two checkpoints."),
    Parameter("resume", False, Section.WORK, Kind.FLAG, "Continue from the checkpoint, if there is one."),
    Parameter("seed", None, Section.SOLVER, Kind.WHOLE,
              "Random seed: of the order of rows, folds and halves.", option_default=0,
              estimator="random_state", commands=FITS, listed=Heading.SELECTION),
    Parameter("verbose", False, Section.WORK, Kind.FLAG, "Whether to show a progress bar.", option=None),
)  # fmt: skip

OF_OPENING = {one.name: one for one in PARAMETERS if one.section in OPENING}
OF_SPEC = {one.name: one for one in PARAMETERS if one.section not in OPENING}
OF_CLASSES = ("class_weight", "threshold")  # those of OF_SPEC that a regression has no use for


def set_options(parameters: Mapping[str, Parameter], values: Mapping[str, Any]) -> Iterator[tuple[Parameter, Any]]:
    """The parameters whose values are not the defaults, in the order of their declaration."""
    for name, parameter in parameters.items():
        value = values.get(name, parameter.default)
        if value is not parameter.default and not _same(value, parameter.default):
            yield parameter, value


def _same(value: Any, default: Any) -> bool:
    """Whether two values are equal, of which one may be an array."""
    return type(value) is type(default) and bool(value == default)
