"""Every algorithm, theorem, table and figure of the paper, and what became of it here."""

from shuffledp.papers.contents.entry import Entry, State

_NO_NUMBERS = "The figure has no numbers, and the text names none of them."

_TOOLS = (
    Entry(
        "Table 1",
        "Four methods compared: only S-APES has strong central privacy.",
        state=State.DIFFERS,
        where="shuffledp train s-apes --framework threshold",
        why="Nothing central is proven for S-APES, whose selection couples coordinates. "
        "With a fixed threshold in place of the b largest it is certified.",
    ),
    Entry(
        "Definitions 1 and 2",
        "Central privacy, and local privacy.",
        state=State.HOLDS,
        where="shuffledp account",
        why="Definition 2 is printed for single outputs; with delta > 0 it needs all sets.",
    ),
    Entry(
        "Definition 3",
        "Laplace noise of scale sensitivity / epsilon.",
        state=State.HOLDS,
        where="shuffledp account --mechanism laplace",
    ),
    Entry(
        "Lemma 1",
        "Mechanisms on disjoint data keep the largest budget.",
        state=State.HOLDS,
        where="shuffledp train apes --framework pldp",
    ),
    Entry(
        "Lemma 2",
        "Advanced composition.",
        state=State.HOLDS,
        result="apes-candidates",
        where="shuffledp.papers.apes.user_level.composed_epsilon",
    ),
    Entry(
        "Lemma 3",
        "Every pair of outputs is post-processed binary response.",
        state=State.HOLDS,
        where="shuffledp.papers.bounds.two_counts.divergence",
        why="For two inputs, as it says; the decomposition depends on the pair.",
    ),
    Entry(
        "Definition 4",
        "Clip-Laplace, for messages in [-A, A] and values in [-C, C].",
        state=State.HOLDS,
        result="apes-reach",
        where="shuffledp account --mechanism clip-laplace",
    ),
    Entry(
        "Theorem 1, eq. (6) and (7)",
        "Clip-Laplace with the scale of the whole vector keeps epsilon.",
        state=State.REFUTED,
        result="apes-local",
        cases=("V6", "V6-2"),
        why="True in one coordinate, for every A >= C. In more, normalizers change with "
        "each: 1.438 in place of 1 with two. Headed 'Theorem 5' in the appendix.",
    ),
)

_FRAMEWORKS = (
    Entry(
        "Figure 1",
        "Updates and budgets are randomized, shuffled apart, and averaged.",
        state=State.TRIED,
        where="shuffledp train apes",
    ),
    Entry(
        "Algorithm 1",
        "APES: clip, randomize, shuffle each coordinate, average, calibrate.",
        state=State.TRIED,
        result="apes-table3",
        where="shuffledp train apes",
        why="Printed: permutations of the d coordinates and a clipped update that is never "
        "used. Right: of the n people, for each coordinate.",
    ),
    Entry(
        "Eq. (1)",
        "The expected message, which calibration solves for the mean.",
        state=State.HOLDS,
        result="apes-fig6",
        where="shuffledp.federated.calibration.response",
        why="Exact for equal values; otherwise the mean of the messages is not that of the "
        "mean.",
    ),
    Entry(
        "Algorithm 2",
        "S-APES: keep the b largest messages, pad the others with perturbed zeros.",
        state=State.TRIED,
        result="apes-fig5",
        where="shuffledp train s-apes --framework top-b",
        why="As printed, line 1 draws around 0 and not around the update, so that nothing "
        "depends on data; and its scale d D / epsilon contradicts Theorem 3.",
    ),
)

_PRIVACY = (
    Entry(
        "Eq. (2)",
        "UniS: everybody is taken to have the largest budget.",
        state=State.HOLDS,
        result="apes-fig2",
        where="shuffledp account --method apes-uniform",
        why="For one common budget, with the condition of Feldman et al. (2021), which is "
        "not repeated. 0.241 at 10,000 people and budget 1; the tables' 0.069 is the "
        "numerical evaluation.",
    ),
    Entry(
        "Theorem 3",
        "A report keeps epsilon per coordinate and d epsilon in all.",
        state=State.HOLDS,
        result="apes-local",
        where="shuffledp train apes",
        why="The b epsilon that Table 3 has for S-APES does not follow: case V6b.",
    ),
    Entry(
        "Theorem 4",
        "The central epsilon of one coordinate, in closed form.",
        state=State.REFUTED,
        cases=("V4", "V4-2", "V4-3", "V5"),
        where="shuffledp account --method apes",
        why="Chances are averaged over budgets that the victim might have had, but hers is "
        "the same in both worlds: p_i1 belongs there. The appendix lacks a square root. At "
        "the paper's own budgets it is above what is certified.",
    ),
    Entry(
        "Proposition 1",
        "The central epsilon of a person in S-APES, from 2 b coordinates.",
        state=State.TRIED,
        result="apes-candidates",
        cases=("V6b",),
        where="shuffledp account --s-apes",
        why="Not proven: which coordinates are kept depends on all of them. Printed with "
        "ln(1 / delta) for ln(1 / delta'); the tables use delta'. The local budget that "
        "goes with it is refuted.",
    ),
    Entry(
        "Definition 5",
        "Neighbor divergence.",
        state=State.HOLDS,
        result="apes-reach",
        where="shuffledp.papers.apes.wide_clip_laplace.largest_divergence",
    ),
    Entry(
        "Lemma 4, eq. (8) and (9)",
        "The neighbor divergence of Clip-Laplace messages, for A >= C.",
        state=State.HOLDS,
        result="apes-reach",
        where="shuffledp.papers.apes.wide_clip_laplace.neighbor_divergence",
        why="Not tight: 0.238 for a chance of 0.617 at budgets 0.05 and 1. The first line "
        "of (9) has e^(e_i / 2) for e^(-e_i / 2); the proof lacks the logarithm.",
    ),
    Entry(
        "Eq. (3)",
        "Everybody's message imitates the victim's with chance p_ij.",
        state=State.HOLDS,
        where="shuffledp.papers.apes.clones.clone_probability",
        why="The rest's law lacks brackets around its numerator.",
    ),
    Entry(
        "Lemma 5, eq. (4)",
        "Messages are mixtures over the budgets that the victim might have.",
        state=State.REFUTED,
        cases=("V4b", "V4b-2", "V4b-3", "V4b-4", "V4b-5"),
        where="shuffledp account --method apes-numerical",
        why="rho depends on the victim's budget, which both worlds share; its average is "
        "not an argument for privacy.",
    ),
    Entry(
        "Lemma 6, eq. (5) and (10) to (14)",
        "The general central bound, from the counts of clones.",
        state=State.REFUTED,
        cases=("V4b", "V5"),
        where="shuffledp account --method apes-numerical",
        why="It rests on Lemma 5. Slips: a logarithm too many in the step to epsilon, an "
        "exponent 1/2 on the last factor only, Bin(1/2, |T|) for Bin(|T|, 1/2), and in "
        "the appendix no root of the sum.",
    ),
)

_CONVERGENCE = (
    Entry(
        "Theorem 2",
        "How far the loss is from its minimum after T rounds.",
        state=State.DIFFERS,
        result="apes-convergence",
        where="shuffledp.papers.apes.convergence.training_bound",
        why="As Lemma 8, with L in place of l in a2. Corrected it holds, and promises no "
        "progress in a training whose loss falls.",
    ),
    Entry(
        "Assumptions 1 to 4, Definition 6",
        "Smoothness, PL condition, Lipschitz losses, inexact steps, dissimilarity.",
        state=State.TRIED,
        result="apes-convergence",
        where="shuffledp.papers.apes.convergence.Landscape",
        why="Printed: curvature of at least +L for losses called non-convex, so that h has "
        "L + mu. Right: at least -k, and mu - k. Near the optimum B is unbounded unless "
        "all losses agree there.",
    ),
    Entry(
        "Lemma 7, eq. (15) to (22)",
        "How much one aggregation changes the loss.",
        state=State.REFUTED,
        cases=("V18",),
        result="apes-convergence",
        where="shuffledp.papers.apes.convergence.aggregation_bound",
        why="Eq. (20) divides the noise by mu. F(w) = w^2 / 2, mu = 10, w = eta = 1: the "
        "loss rises by 1.32, where 0.60 is printed. Corrected: 1 for 1 / mu.",
    ),
    Entry(
        "Lemma 8, eq. (23) to (25)",
        "T aggregations with noise of known size.",
        state=State.REFUTED,
        cases=("V19",),
        result="apes-convergence",
        where="shuffledp.papers.apes.convergence.factors",
        why="The same example: 1.82 after one round, where 1.28 is printed. The step from "
        "gradients to losses needs a coefficient below 0. Called Theorem 8 once.",
    ),
    Entry(
        "Lemma 9, eq. (26) and (27)",
        "The size of Clip-Laplace noise.",
        state=State.REFUTED,
        cases=("V20",),
        result="apes-noise",
        where="shuffledp.papers.apes.noise_size.squared_noise",
        why="Printed with 8 C / e for 8 C^2 / e: -0.409 at C = 0.1 and budget 1, for a "
        "mean square of 0.0102. Corrected it is attained. Its order, C^2 / e^2, is right.",
    ),
    Entry(
        "Lemma 10, eq. (28) and (29)",
        "The size of noise after calibration, and if the bias is known exactly.",
        state=State.REFUTED,
        cases=("V21",),
        result="apes-noise",
        where="shuffledp.papers.apes.noise_size.corrected_noise",
        why="(28) lacks a term and is larger than need be; the line before has a sign "
        "wrong, and the bound for exact bias is negative. All corrected, and attained.",
    ),
)

_EXPERIMENTS = (
    Entry(
        "Table 2",
        "Six distributions of budgets.",
        state=State.HOLDS,
        where="shuffledp.budget_distributions.draw_budgets",
        why="The second parameter of N(., 1) is read as a standard deviation.",
    ),
    Entry(
        "Table 3",
        "Frameworks under Uniform2: epsilons and accuracy.",
        result="apes-table3",
        why="UniS has 76.9 here and 79.6 in Table 4. Accuracies depend on rounds and "
        "rates, which are not printed.",
    ),
    Entry(
        "Footnote 1",
        "UniS' epsilon with Laplace noise of different scales, called an approximation.",
        state=State.REFUTED,
        cases=("V12",),
        why="The victim's coin is in the counts, and counts once more in delta_c. At the "
        "tables' own delta_c of Gauss1, 2.45e-9, no attack reaches it; at 4.6e-9 one does.",
    ),
    Entry(
        "Table 4, epsilons",
        "A person's central epsilon for six distributions.",
        result="apes-candidates",
        cases=("V12", "C18"),
        why="UniS under Uniform2 is 79.6 here and 76.9 in Table 3, which is found. "
        "delta_s = 1e-8 for each coordinate, and advanced composition with what is "
        "left of 3.6e-5. The victim's coin is in the counts and reduces delta_s once more: "
        "under Gauss1 one coordinate of UniS is exposed more than stated.",
    ),
    Entry(
        "Table 4, accuracies",
        "Frameworks under six distributions.",
        result="apes-table4",
        why="Rounds and rates are not printed.",
    ),
    Entry(
        "Figure 2",
        "Bounds against the number of people, budgets up to 1.",
        result="apes-fig2",
        why="Its points are not printed; Table 3 has two of them.",
    ),
    Entry(
        "Figure 3",
        "Accuracy under six distributions.",
        result="apes-fig3",
        why="Compared with Table 4.",
    ),
    Entry(
        "Figure 4",
        "Accuracy against the clip bound, for two kinds of noise.",
        result="apes-fig4",
        why="The figure has no numbers; the text names one, the best C.",
    ),
    Entry(
        "Figure 5",
        "Accuracy against b / d, for selected and for random coordinates.",
        result="apes-fig5",
        why=f"{_NO_NUMBERS} As b / d grows more are uploaded, not fewer.",
    ),
    Entry(
        "Figure 6",
        "The gap between the average message and eq. (1).",
        result="apes-fig6",
        why=_NO_NUMBERS,
    ),
    Entry(
        "Figure 7",
        "Bounds, budgets up to 0.5.",
        result="apes-fig7",
        why=_NO_NUMBERS,
    ),
    Entry(
        "Figure 8",
        "Bounds, budgets up to 3.",
        state=State.TRIED,
        result="apes-fig8",
        why="The figure has no numbers. The conclusion has reductions of up to 66 percent, "
        "and names neither people nor figure nor baseline.",
    ),
    Entry(
        "Figure 9",
        "Variance of Clip-Laplace messages.",
        result="apes-fig9",
        why=_NO_NUMBERS,
    ),
    Entry(
        "Figure 10",
        "Bias of Clip-Laplace messages.",
        result="apes-fig10",
        why=_NO_NUMBERS,
    ),
)

CONTENTS: tuple[Entry, ...] = (
    *_TOOLS,
    *_FRAMEWORKS,
    *_PRIVACY,
    *_CONVERGENCE,
    *_EXPERIMENTS,
)
