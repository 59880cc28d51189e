"""Every algorithm, theorem, table and figure of the paper, and what became of it here."""

from shuffledp.papers.contents.entry import Entry, State

_BOUND = "shuffledp account --method hypothesis-testing"
_ANY = "shuffledp.papers.hypothesis_testing.any_density"

_PRELIMINARIES = (
    Entry(
        "Definition 1",
        "Central (epsilon, delta)-privacy.",
        state=State.HOLDS,
        where="shuffledp account",
    ),
    Entry(
        "Definition 2",
        "Local (epsilon, delta)-privacy, and personal levels of it.",
        state=State.HOLDS,
        where="shuffledp.testing.check_randomizer",
        why="Printed for single outputs, Pr[R(x) = z]: with delta > 0 it must hold for "
        "all sets of outputs.",
    ),
    Entry(
        "Figure 1, Section 2.2",
        "The shuffle with personal levels; what is shuffled is released.",
        state=State.HOLDS,
        where="shuffledp account --mode agnostic",
        why="Printed as R after S after A; the order is A after S after R.",
    ),
)

_CONFUSION = (
    Entry(
        "Section 3.1, eq. (1)",
        "A private pair is a mixture of two messages, of weights e^eps p and p.",
        state=State.HOLDS,
        where="shuffledp account --method feldman2021-numerical",
        why="In the sentence before it, the second Q(x_1^0) of R(x_1^1) is Q(x_1^1).",
    ),
    Entry(
        "Section 3.1, eq. (2)",
        "Others imitate the victim with probability p, for either value.",
        state=State.REFUTED,
        cases=("V7", "V7b", "V8", "V8c"),
        where=f"{_ANY}.confusion_of",
        why="So for a p with R(x_i) >= p (R(x_1^0) + R(x_1^1)) everywhere. The type-I "
        "error put in its place is larger: with Laplace noise twice as large at budgets "
        "of 1 and 3, and with Gaussian noise at equal budgets no p > 0 is one.",
    ),
    Entry(
        "Section 3.2.1",
        "p_1, the chance that the victim is mistaken for herself with the other value.",
        state=State.TRIED,
        where=f"{_ANY}.flip_of",
        why="The failure set has distribution functions below delta / 2 and above 1 - "
        "delta / 2, not densities; on the right of p_1 it is that of x_1^1. The two "
        "chances are equal for symmetric noise only; the smaller is taken.",
    ),
    Entry(
        "Section 3.2.1, eq. (3)",
        "R(x_1^0) = (1 - p_1) R(x_1^0) + p_1 R(x_1^1), and the reverse.",
        state=State.REFUTED,
        cases=("V7", "V7b"),
        why="It says R(x_1^0) = R(x_1^1). What is meant are two new messages of which "
        "both are mixtures, as in (1); a type-I error is no weight of such a mixture.",
    ),
    Entry(
        "Section 3.2.2",
        "p_i^0 and p_i^1, for any mechanism, any value and any budgets.",
        state=State.TRIED,
        where=f"{_BOUND} --mechanism ANY, {_ANY}.confusion_of",
        why="With the printed strict inequalities p_i is 0 where budgets and values are "
        "equal, and eq. (5) states delta = 0 for everybody; they are taken as <=.",
    ),
    Entry(
        "Figure 2",
        "The areas of U_0 and U_1 under the density of another's noise.",
        state=State.TRIED,
        result="testing-fig3",
        why="A sketch, without numbers; the areas are those of Figure 3.",
    ),
    Entry(
        "Section 3.2.2, worst value",
        "p_i is smallest where the other person holds x_1^0 or x_1^1.",
        state=State.REFUTED,
        cases=("V17",),
        result="testing-fig3",
        why="So for Laplace noise. With Clip-Laplace on [-1, 1] and budgets of 1, p_i is "
        "0.378 at -1 and 0.152 at -0.75.",
    ),
    Entry(
        "Figure 3 (a)",
        "p_i^0 and p_i^1 against the other person's value.",
        state=State.TRIED,
        result="testing-fig3",
        why="The paper does not print at which budgets.",
    ),
    Entry(
        "Figure 3 (b)",
        "p_i against the other person's budget, the victim at 3.",
        result="testing-fig3",
        why="The caption's highest p_i at eps_1 = 1 is at eps_i = 1.",
    ),
    Entry(
        "Section 3.2.2, eq. (4)",
        "R(x_i) as a mixture of the victim's messages with weights p_i.",
        state=State.REFUTED,
        cases=("V8", "V8-2", "V8b", "V8c"),
        why="As eq. (2): f_i >= p_i (f_0 + f_1) fails between the values, and in the "
        "tails of whoever is more liberal than the victim.",
    ),
)

_AMPLIFICATION = (
    Entry(
        "Section 3.3, P and Q",
        "Two pairs of counts, and mixtures of them.",
        state=State.HOLDS,
        where="shuffledp.papers.bounds.two_counts",
        why="C is a sum over i = 2, ..., n, not 1, ..., n - 1. The counts are right; what "
        "is not is that messages show no more than they do.",
    ),
    Entry(
        "Lemma 3.1 of Wang et al., as used",
        "Trade-off functions of parts of a mixture bound that of the mixture.",
        state=State.HOLDS,
        result="testing-theorem1",
    ),
    Entry(
        "Theorem 1",
        "The trade-off function of the shuffle.",
        state=State.REFUTED,
        cases=("V7", "V8"),
        result="testing-theorem1",
        why="The second sum must be one minus that: printed, f_s(1) is 1 - 2 w instead of "
        "0. delta_1 (1 - alpha) credits failures as if they hid her; they reveal her. "
        "And it rests on eq. (4).",
    ),
    Entry(
        "Theorem 2, eq. (5)",
        "Central (epsilon, delta_s(epsilon))-privacy, pure and approximate.",
        state=State.REFUTED,
        cases=(
            *("V7", "V7-2", "V7-small", "V7b", "V7b-2", "V7b-small"),
            *("V8", "V8-2", "V8-small", "V8b", "V8c", "V9", "V9-2"),
        ),
        where=_BOUND,
        why="Sums start at i = 1 and drop P(C = 0), and in l(t) the weight is w_i^0; "
        "failures are credited. Mended in both, it still fails with equal budgets "
        "(Gaussian noise; Laplace noise from 2.5 on) and for careful people.",
    ),
    Entry(
        "Section 3.3, worst case",
        "The most liberal person is protected least.",
        state=State.REFUTED,
        cases=("V8", "V8-2", "V8b"),
        why="A careful person among liberal ones is: her messages lie where nobody "
        "else's do.",
    ),
)

_EXPERIMENTS = (
    Entry(
        "Table 1",
        "Four distributions of local budgets, delta_local = 0 or 1e-10.",
        state=State.HOLDS,
        where="shuffledp.budget_distributions.draw_budgets",
        why="The second parameter of a normal distribution is read as its deviation.",
    ),
    Entry(
        "Figure 4 (a), (c)",
        "Pure budgets, Laplace noise: four baselines, and the paper's bound below.",
        result="testing-fig4-pure",
        cases=("C7", "C8", "C11", "C12"),
        why="The curves' numbers are not printed. No claim is refuted at these "
        "populations.",
    ),
    Entry(
        "Figure 4 (b), (d)",
        "Approximate budgets, Gaussian noise: two baselines, and the paper's bound.",
        result="testing-fig4-approximate",
        cases=("C9", "C10", "C13", "C14"),
        why="At noise that keeps the local budgets its bound is up to 15 times below the "
        "best baseline; up to 5 is printed, as if there were less noise. No claim is "
        "refuted at these populations.",
    ),
    Entry(
        "Table 2",
        "delta at five central epsilons, Gaussian noise, three bounds.",
        result="testing-table2",
        why="The row of Feldman et al. is found with counts rounded down to hundreds, "
        "that of Chen, Cao, Ge (2024) by E-APES (2023) with mu / sqrt(2), "
        "and the paper's own does not follow from Theorem 2 at noise that keeps the local "
        "budgets. No attack refutes any.",
    ),
)

CONTENTS: tuple[Entry, ...] = (
    *_PRELIMINARIES,
    *_CONFUSION,
    *_AMPLIFICATION,
    *_EXPERIMENTS,
)
