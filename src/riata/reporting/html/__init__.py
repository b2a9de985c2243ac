"""Pages of one self-contained HTML file: a shell, charts drawn as SVG, tables, and the report of a fit made of them."""
