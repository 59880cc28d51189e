"""Every definition, algorithm, theorem and figure of the notes, and what became of it."""

from shuffledp.papers.contents.entry import Entry, State

_OUTSIDE = (
    "The budget belongs outside of the root: 1 / (sqrt(n) eps), as the printed variances "
    "and sample sizes say."
)

CONTENTS: tuple[Entry, ...] = (
    Entry(
        "Definition 9.1",
        "(eps, delta)-local differential privacy.",
        state=State.TRIED,
        where="shuffledp.testing.check_randomizer",
    ),
    Entry(
        "Figure 9.1",
        "The local model: people randomize, a server aggregates.",
        state=State.TRIED,
        where="shuffledp estimate --help",
    ),
    Entry(
        "Section 9.1, item 1",
        "Interactive protocols: people who are asked after others have answered.",
        state=State.TRIED,
        where="shuffledp.papers.lecture_notes.adaptive",
    ),
    Entry(
        "Section 9.1, item 3",
        "Everybody with a randomizer of her own.",
        state=State.HOLDS,
        where="shuffledp account --levels 0.5:5000,2:5000 --categories 4 --delta 1e-6",
    ),
    Entry(
        "Section 9.1, item 4",
        "With public coins any local protocol needs one bit per person.",
        state=State.HOLDS,
        result="notes-one-bit",
        where="shuffledp.papers.lecture_notes.one_bit_reduction",
        why="Stated in words. With the factor 1 / (e^eps + 1) the bit keeps exactly eps, "
        "at every eps; with 1/2 it would not.",
    ),
    Entry(
        "(9.1)",
        "The error of a curator's Laplace noise on a mean of bits.",
        result="notes-response",
        why="|error| <= 1 / (n eps) holds in the mean only, with chance 1 - 1 / e.",
    ),
    Entry(
        "Section 9.1, randomized response",
        "Its debiased mean, and its error.",
        result="notes-response",
        why=f"The estimator is right. {_OUTSIDE}",
    ),
    Entry(
        "Theorem 9.2",
        "Every 1-local protocol errs by about 1 / sqrt(n) on some bits.",
        state=State.HOLDS,
        result="notes-lower-bound",
        why="The proof means P(X_i = 1 | A = a) and the output of the analyst, where "
        "P(A = a | X_i = 1) and a are printed.",
    ),
    Entry(
        "Section 9.1, Laplace mechanism",
        "The mean of numbers with Laplace noise of their own.",
        result="notes-laplace",
        why=_OUTSIDE,
    ),
    Entry(
        "(9.2), Theorem 9.3",
        "The mean of numbers from one bit each: private, unbiased, of variance "
        "O(m^2 / (n eps^2)).",
        state=State.HOLDS,
        result="notes-laplace",
        where="shuffledp.OneBit",
    ),
    Entry(
        "Section 9.1.1, averaging",
        "What a hundred answers to the same question reveal.",
        result="notes-rappor",
        why="1.39e-24 is 3^-50, the likelihood ratio of 75 yes, and no chance of them.",
    ),
    Entry(
        "Section 9.1.1, memoization",
        "A first answer that is kept and repeated.",
        state=State.HOLDS,
        where="shuffledp.Rappor.permanent",
    ),
    Entry(
        "Figure 9.2",
        "A run of RAPPOR: 145 of 256 bits are reported.",
        result="notes-rappor",
        why="Needs p = 0.5, as in the original paper; with the printed p = 0.25 97 are "
        "expected.",
    ),
    Entry(
        "Figure 9.3",
        "RAPPOR: signal, permanent and instantaneous response, report.",
        state=State.HOLDS,
        where="shuffledp estimate --statistic strings --help",
    ),
    Entry(
        "Section 9.2, item 1, averages",
        "A gap of sqrt(n) between central and local errors.",
        result="notes-response",
        why=_OUTSIDE,
    ),
    Entry(
        "Section 9.2, item 1, ERM",
        "Excess empirical risk of strongly convex and of convex losses.",
        result="notes-erm",
        why=f"The rate of strongly convex losses is found; of convex ones: {_OUTSIDE}",
    ),
    Entry(
        "Section 9.2, item 2",
        "Selection: the exponential mechanism, and an exponential gap to the local model.",
        state=State.HOLDS,
        result="notes-selection",
        where="shuffledp.papers.lecture_notes.selection",
    ),
    Entry(
        "Figure 9.4",
        "Encode, shuffle, analyze.",
        state=State.TRIED,
        where="shuffledp serve demo",
    ),
    Entry(
        "Theorem 9.4, (9.3)",
        "Amplification by shuffling, for randomizers chosen one after the other.",
        state=State.HOLDS,
        result="notes-amplification",
        where="shuffledp account --method feldman2021-closed --categories 2 "
        "--levels 1:10000 --delta 1e-6",
        why="R^(i) lacks its codomain, S^(i).",
    ),
    Entry(
        "Example after Theorem 9.4",
        "Laplace noise on every bit reaches the central error.",
        result="notes-shuffled-laplace",
        why="The error is sqrt(ln(1 / delta)) / (n eps); the logarithm is not printed.",
    ),
    Entry(
        "Definition 9.5",
        "The shuffle model: encoder, shuffler, analyzer.",
        state=State.TRIED,
        where="shuffledp.shuffle",
    ),
    Entry(
        "Theorem 9.6, (9.4)",
        "The mean of bits with one bit each and nearly the central error.",
        state=State.HOLDS,
        result="notes-shuffled-sum",
        where="shuffledp.BinarySum",
        why="p ~ ln(1 / delta) / (n eps^2) leaves its constant open: with 1 the messages "
        "are worth 1.2 where 0.5 is wanted; some 3 is certified.",
    ),
    Entry(
        "(9.5)",
        "The analyzer of Theorem 9.6.",
        result="notes-shuffled-sum",
        why="n p / 2 belongs where p / 2 is printed.",
    ),
)
