"""Characters that Matplotlib's own font lacks, in files of pictures."""

import logging
from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="Needs the extra report.")

from shuffledp.matplotlib_picture import MatplotlibPicture, new_figure

# A letter of phonetics, which of the fonts that come with Matplotlib another one has; no
# font has the other character, which is private.
RARE, UNKNOWN = "\u1d81", "\U0010fffd"


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("ending", ["png", "pdf"])
def test_another_font_draws_them(
    ending: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    figure = new_figure(2.0, 1.0)
    figure.subplots().set_yticks([0.0], labels=[f"b{RARE}"])
    picture = MatplotlibPicture(figure, "A label.")

    with caplog.at_level(logging.WARNING):
        picture.save(tmp_path / f"picture.{ending}")

    (label,) = figure.axes[0].get_yticklabels()
    usual, *others = label.get_fontfamily()
    assert usual == "sans-serif"
    assert len(others) == 1
    assert not caplog.records


def test_unknown_ones_are_boxes_without_a_warning(tmp_path: Path) -> None:
    figure = new_figure(2.0, 1.0)
    figure.subplots().set_title(UNKNOWN)

    MatplotlibPicture(figure, "A title.").save(tmp_path / "picture.png")

    assert (tmp_path / "picture.png").stat().st_size > 0
    assert figure.axes[0].title.get_fontfamily() == ["sans-serif"]


def test_usual_texts_keep_their_font(tmp_path: Path) -> None:
    figure = new_figure(2.0, 1.0)
    figure.subplots().set_title("Shares\nin percent")

    MatplotlibPicture(figure, "A title.").save(tmp_path / "picture.pdf")

    assert figure.axes[0].title.get_fontfamily() == ["sans-serif"]
