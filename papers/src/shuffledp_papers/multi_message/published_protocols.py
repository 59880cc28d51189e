"""The published protocols for counts that are compared."""

from shuffledp_papers.multi_message.balcer2020 import Balcer2020
from shuffledp_papers.multi_message.count_design import CountProtocol
from shuffledp_papers.multi_message.ghazi2021 import Ghazi2021
from shuffledp_papers.multi_message.luo2022 import Luo2022
from shuffledp_papers.multi_message.murakami2025 import (
    MurakamiBinomial,
    MurakamiOneSided,
    MurakamiTwoSided,
)

PROTOCOLS: tuple[CountProtocol, ...] = (
    Balcer2020(),
    Ghazi2021(),
    Luo2022(as_printed=True),
    Luo2022(),
    Luo2022(exponent=1.0),
    Luo2022(exponent=3.0),
    MurakamiBinomial(),
    MurakamiTwoSided(),
    MurakamiOneSided(),
)
