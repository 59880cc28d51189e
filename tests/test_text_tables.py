"""What is printed at `>>>` fits a screen, whatever people called their categories."""

from shuffledp.text_tables import TextTable, as_html, as_text

VIEW = TextTable(
    "Shares",
    ("who", "share"),
    tuple((f"group {number}", f"{number}%") for number in range(40)),
    ("Caution: <few> people.",),
    ("A long sentence about what was assumed and found. " * 4,),
)


def test_long_tables_end_with_how_many_rows_are_left() -> None:
    text = as_text(VIEW)

    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert sum("group" in line for line in lines) == 12
    assert "... and 28 more: see to_frame()." in text
    assert text.index("Caution") < text.index("A long sentence")


def test_views_stand_one_below_the_other() -> None:
    assert as_text(VIEW, VIEW).count("Shares\n") == 2
    assert as_html(VIEW, VIEW).count("<table>") == 2


def test_html_escapes_everything_and_loads_nothing() -> None:
    page = as_html(TextTable("<b>", ("<i>",), (("<script>",),), ("<u>",), ("<s>",)))

    for tag in ("<b>", "<i>", "<script>", "<u>", "<s>", "src=", "href="):
        assert tag not in page
    assert "<strong>&lt;u&gt;</strong>" in page


def test_headings_that_are_wider_than_their_cells_are_broken() -> None:
    headings = ("central epsilon asked for", "people", *["what is certified"] * 4)
    view = TextTable("Levels", headings, (("0.5", "400", *["0.499962"] * 4),))

    title, *lines = as_text(view).splitlines()

    assert title == "Levels"
    assert lines == [
        "  central",
        "  epsilon",
        "  asked              what is    what is    what is    what is",
        "  for      people  certified  certified  certified  certified",
        "  0.5         400   0.499962   0.499962   0.499962   0.499962",
    ]


def test_letters_of_two_columns_count_twice() -> None:
    table = TextTable(
        "T", ("w", "n"), (("日本", "1"), ("🚲", "2"), ("e\u0301", "3"), ("abcd", "4"))
    )
    lines = as_text(table).splitlines()[2:]
    # Two columns for each of the first letters, none for the mark on the e.
    assert lines == [
        "  日本  1",
        "  🚲    2",
        "  e\u0301     3",
        "  abcd  4",
    ]
