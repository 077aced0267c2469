"""Configuration of the manual: `sphinx-build -W --keep-going docs build/manual`."""

import sys
from pathlib import Path

import polhode

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))
sys.path.insert(0, str(HERE.parent))  # the package `benchmarks`

project = "polhode"
author = copyright = "The polhode developers"
version = release = polhode.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "offline_math",
    "repository",
]
nitpicky = True
exclude_patterns = ["_ext"]

# Files of the repository that are pages of the manual.
included_files = {
    "cpp/REFERENCES.md": "references",
    "tests/README.md": "tests",
    "CONTRIBUTING.md": "contributing",
    "CHANGELOG.md": "changelog",
    "README.md": "index",
    "examples/gallery/README.rst": "gallery/index",
}

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4

default_role = "name"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autosummary_generate = False
numpydoc_show_class_members = False

smartquotes = False  # names in quotes are typed as they stand
html_theme = "furo"
html_title = f"polhode {release}"
html_static_path = ["_static"]
html_css_files = ["manual.css"]
html_math_renderer = "mathml"
html_copy_source = False

if (HERE.parent / "examples/gallery").exists():
    extensions += ["sphinx_gallery.gen_gallery", "offline_animations"]
    sphinx_gallery_conf = {
        "examples_dirs": "../examples/gallery",
        "gallery_dirs": "gallery",
        "matplotlib_animations": True,
        "abort_on_example_error": True,
        "download_all_examples": False,
        "show_signature": False,
        "capture_repr": ("_repr_html_",),
        "write_computation_times": False,  # a table with scripts from the network
    }
    # Generated, and read only as pages: not the scripts and their notebooks.
    exclude_patterns += ["gallery/*.py", "gallery/*.ipynb", "gallery/*.json"]
