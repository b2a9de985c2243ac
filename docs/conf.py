"""How the site is built: `make docs`. Pages are Markdown that also reads well where it lies."""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # where two of the extensions lie

project = "riata"
author = "the riata authors"
copyright = author
release = version = version_of("riata")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_copybutton",
    "docstrings",
    "pictures",
]
exclude_patterns = ["_made"]
nitpicky = False  # types of other libraries have no pages here, and the build asks nothing of a network
default_role = "literal"  # `this` in a docstring is code

myst_heading_anchors = 3
myst_links_external_new_tab = False

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings say in words what a type says in symbols
napoleon_google_docstring = False
napoleon_use_ivar = True
smartquotes = False  # "auto" is typed so
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "furo"
html_title = "riata"
html_static_path = ["_static"]
html_css_files = ["riata.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
html_logo = html_favicon = "_static/logo.svg"
