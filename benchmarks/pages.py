"""Tables that benchmarks write into pages of docs/, between marks; the prose around them stays as it is."""


def write_section(page, name, text):
    """Put the text between the two marks that the page has for this section, in place of what is there."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, found, rest = page.read_text().partition(begin)
    _, ended, after = rest.partition(end)
    if not (found and ended):
        raise ValueError(f"{page} has no place for '{name}': add the lines {begin} and {end} where it belongs")
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}")


def table(head, rows):
    """Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, cells)) + " |" for cells in lines)
