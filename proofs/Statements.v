(** All theorems on one page. [R] is any ordered field: the rational numbers, the real
    numbers. Every type of messages, views and seals is finite, and counts are in windows of
    any size; a distribution is a function into [R] that is nowhere negative and sums to 1.
    [hs e p q] is the sum of the positive parts of [p x - e * q x]; README.md says what the
    other words mean. *)

(** Contents: every theorem in a line, under the page of docs/theory whose claim it is.

    theorem.md
      post_processing                post-processing never raises the divergence
      joint_convexity                mixtures are no farther apart than their parts
      blanket_theorem                the blanket theorem, for all that is blind to order
      certified_bound                the bound as an expectation, without some people
      more_draws                     one message hides better among more blanket messages
      more_losses                    the summand never increases in m
      smaller_weights_suffice        smaller coins in any order give no smaller bound
      fewer_heads_suffice            M may be replaced by anything stochastically smaller
      histogram_is_blind             counts of messages are blind to the order
      function_of_histogram_is_blind and so is any random function of these counts
      random_order_is_blind          and so is a uniformly random order
      sealed_batch_is_blind          and so are sealed messages in no party's order
      adaptive_composition           rounds may depend on earlier shuffled output

    composition.md
      domination_reverses            what dominates does so the other way round, too
      composition                    products of pairs that dominate dominate products
      grid_split_dominates           losses may be split between points of a grid
      rounding_dominates             masses may be rounded upward
      trimming_dominates             and what exceeds 1 be taken from small losses

    two-messages.md
      histogram_shows_most           no view blind to the order shows more than counts
      random_order_shows_as_much     a random order shows as much as the counts
      ones_show_as_much              of ones and zeros, the number of ones shows as much
      number_of_ones_log_concave     the law of a sum of coins is log-concave
      two_messages_exact             the exact divergence, as a sum
      two_messages_threshold         it is that of the best event "at least t ones"
      two_messages_zero              or 0 if one's own message is as likely
      two_messages_renamed           who holds which value does not matter
      worst_data                     worst probabilities are ends of intervals
      worst_parts                    of mixtures, some parts are worst

    counts.md
      merging_same_ratios            outcomes of one ratio may be merged without loss
      bounds_from_a_part             what a window leaves out is added or subtracted
      counts_closed_form             the law of a bucket among geometric noise and pairs
      counts_ratio                   its ratio with a message more and without
      counts_masses                  the masses of outcomes of one ratio
      counts_total                   and their total in a window
      counts_one_dimension           one number says all that matters
      counts_ratios_rise             ratios are at most 1 / p, and rise with x
      poisson_counts                 Poisson noise: the ratio at x is x / m
      noise_adds_up                  parts of the noise add up to the noise
      noise_of_one_class             Poisson and geometric noise are of that class
      pairs_log_concave              which is log-concave for shapes from 1 on
      dummies_counts                 noise of the shuffler: the ratio is p, then 1 / p
      added_on_top                   others' answers and noise never raise the divergence
      moved_message                  a message that moves: the divergence of two buckets
      half_line_for_each_count       per count of one bucket, a half line is best *)
From mathcomp Require Import all_ssreflect all_algebra fingroup perm.
From Shuffled Require Import Divergence Shuffle Blanket Monotone Coins Orders Certificate.
From Shuffled Require Import Composition Histogram Concave WorstData TwoMessages.
From Shuffled Require Import Counts Buckets.
Set Implicit Arguments.
Unset Strict Implicit.
Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Statements.
Variable R : realFieldType.

(** A kernel never raises the divergence. *)
Theorem post_processing (S T : finType) (k : S -> T -> R) (e : R) (p q : S -> R) :
  kernel k -> hs e (push k p) (push k q) <= hs e p q.
Proof. exact: hs_push. Qed.

(** Mixtures with the same weights are at most as far apart as their parts, in the mean. *)
Theorem joint_convexity (I T : finType) (w : I -> R) (e : R) (p q : I -> T -> R) :
  (forall i, 0 <= w i) ->
  hs e (fun x => \sum_i w i * p i x) (fun x => \sum_i w i * q i x)
    <= \sum_i w i * hs e (p i) (q i).
Proof. exact: hs_mixture. Qed.

Section Crowd.
Variables (Y : finType) (n : nat).

(** Person [i] of the others has data [z i] and a randomizer [rand i] of their own, on data
    of a type of their own. *)
Variables (X : 'I_n -> Type) (rand : forall i, X i -> Y -> R).
Hypothesis rand_kernel : forall i z, distribution (rand (i := i) z).

(** The blanket, and what everybody's randomizer has of it. *)
Variables (omega : Y -> R) (gamma : 'I_n -> R).
Hypothesis omega_distribution : distribution omega.
Hypothesis gamma_probabilities : probabilities gamma.

(** What is seen: any random function of the messages that is blind to their order. *)
Variables (T : finType) (view : {ffun 'I_n.+1 -> Y} -> T -> R).
Hypotheses (view_kernel : kernel view) (view_blind : order_blind view).

(** The target user sends by law [p] or by law [q]. *)
Variables (e : R) (p q : Y -> R) (z : forall i, X i).

Let seen (p : Y -> R) : T -> R := push view (sent p (fun i => rand (z i))).

(** The blanket theorem. *)
Theorem blanket_theorem :
  (forall i (z : X i) v, gamma i * omega v <= rand z v) ->
  hs e (seen p) (seen q) <=
  \sum_b coins gamma b * hs e (placed omega p (m := heads b))
                              (placed omega q (m := heads b)).
Proof. by move=> covered; apply: blanket => // i v; apply: covered. Qed.

(** The same as an expectation, which is what the library evaluates. Nothing is assumed of
    the randomizers of the people in [A], who are left out. *)
Theorem certified_bound (A : {set 'I_n}) :
  (forall i (z : X i) v, i \notin A -> gamma i * omega v <= rand z v) ->
  covers omega p -> covers omega q ->
  hs e (seen p) (seen q) <=
  \sum_(m < n.+1)
     heads_law (without A gamma) m * mean_excess omega (loss omega e p q) m.
Proof. by move=> covered ? ?; apply: certificate => // i v; apply: covered. Qed.

(** More blanket draws never hurt. *)
Theorem more_draws (m m' : nat) :
  (m <= m')%N ->
  hs e (placed omega p (m := m')) (placed omega q (m := m')) <=
  hs e (placed omega p (m := m)) (placed omega q (m := m)).
Proof. exact: hs_placed_antitone. Qed.

Theorem more_losses :
  covers omega p -> covers omega q -> antitone (mean_excess omega (loss omega e p q)).
Proof. exact: mean_excess_antitone. Qed.

(** So coins may be replaced by smaller ones, up to their order, *)
Theorem smaller_weights_suffice (gamma' : 'I_n -> R) (s : 'S_n) (f : nat -> R) :
  probabilities gamma' -> (forall i, gamma' i <= gamma (s i)) -> antitone f ->
  \sum_(m < n.+1) heads_law gamma m * f m <= \sum_(m < n.+1) heads_law gamma' m * f m.
Proof. by move=> *; apply: (smaller_weights (s := s)). Qed.

(** and their number by any that is stochastically smaller. *)
Theorem fewer_heads_suffice (P P' : nat -> R) (f : nat -> R) :
  antitone f ->
  (forall t, \sum_(m < t) P m <= \sum_(m < t) P' m) ->
  \sum_(m < n.+1) P m = \sum_(m < n.+1) P' m ->
  \sum_(m < n.+1) P m * f m <= \sum_(m < n.+1) P' m * f m.
Proof. exact: stochastically_smaller. Qed.

End Crowd.

(** Views that are blind to the order. *)
Section Views.
Variables (Y T : finType) (N : nat).

Theorem histogram_is_blind :
  kernel (observe R (@histogram Y N)) /\ order_blind (observe R (@histogram Y N)).
Proof. by split; [exact: observe_kernel | exact: histogram_blind]. Qed.

Theorem function_of_histogram_is_blind (k : {ffun Y -> 'I_N.+1} -> T -> R) :
  order_blind (fun y : {ffun 'I_N -> Y} => k (histogram y)).
Proof. exact: from_histogram_blind. Qed.

Theorem random_order_is_blind :
  kernel (@random_order R Y N) /\ order_blind (@random_order R Y N).
Proof. by split; [exact: random_order_kernel | exact: random_order_blind]. Qed.

(** An order that no party draws: each message is sealed with randomness of its own, and
    what is seen does not depend on the order of the sealed messages. *)
Theorem sealed_batch_is_blind (U C : finType) (seal : Y -> U -> C)
    (batch : {ffun 'I_N -> C} -> T) (rho : {ffun 'I_N -> U} -> R) :
  distribution rho ->
  (forall s u, rho (permuted s u) = rho u) ->
  (forall s c, batch (permuted s c) = batch c) ->
  kernel (sealed_batch seal batch rho) /\ order_blind (sealed_batch seal batch rho).
Proof. by split; [exact: sealed_batch_kernel | exact: sealed_batch_blind]. Qed.

End Views.

(** Several protocols with the same people. Of distributions, a pair that dominates does so
    the other way round, too. *)
Theorem domination_reverses (S T : finType) (p q : S -> R) (a b : T -> R) :
  distribution p -> distribution q -> distribution a -> distribution b ->
  dominated p q a b -> dominated q p b a.
Proof. exact: dominated_reverse. Qed.

(** Protocols that are independent of each other, *)
Theorem composition (T U : nat -> finType) (p q : forall i, T i -> R)
    (a b : forall i, U i -> R) (n : nat) :
  (forall i, distribution (p i)) -> (forall i, distribution (q i)) ->
  (forall i, distribution (a i)) -> (forall i, distribution (b i)) ->
  (forall i, dominated (p i) (q i) (a i) (b i)) ->
  dominated (product_law p (n := n)) (product_law q (n := n))
            (product_law a (n := n)) (product_law b (n := n)).
Proof. by move=> dist_p dist_q *; apply: dominated_transcript => // i seen. Qed.

(** and protocols of which each may depend on all that was seen of those before. *)
Theorem adaptive_composition (T U : nat -> finType)
    (k l : forall i, transcript T i -> T i -> R) (a b : forall i, U i -> R) (n : nat) :
  (forall i, kernel (k i)) -> (forall i, kernel (l i)) ->
  (forall i, distribution (a i)) -> (forall i, distribution (b i)) ->
  (forall i seen, dominated (k i seen) (l i seen) (a i) (b i)) ->
  dominated (transcript_law k (n := n)) (transcript_law l (n := n))
            (product_law a (n := n)) (product_law b (n := n)).
Proof. exact: dominated_transcript. Qed.

(** A grid of ratios: an outcome may be split into two with the same totals, whose ratios
    are those of the grid to either side. *)
Theorem grid_split_dominates (T : finType) (lo hi p q : T -> R) :
  (forall x, lo x < hi x) -> (forall x, lo x * q x <= p x <= hi x * q x) ->
  [/\ forall x, split_p lo hi p q (x, true) + split_p lo hi p q (x, false) = p x,
      forall x, split_q lo hi p q (x, true) + split_q lo hi p q (x, false) = q x,
      forall y, 0 <= split_q lo hi p q y
    & dominated p q (split_p lo hi p q) (split_q lo hi p q)].
Proof.
split; [exact: split_p_total | exact: split_q_total | exact: split_q_ge0 | ].
exact: split_dominates.
Qed.

(** Masses may be rounded upward, *)
Theorem rounding_dominates (T : finType) (c p q : T -> R) :
  (forall x, 1 <= c x) -> dominated p q (fun x => c x * p x) (fun x => c x * q x).
Proof. exact: rounded_dominates. Qed.

(** and what exceeds 1 be taken from the outcomes of ratios up to [l]: what is left of
    these has the ratio [l]. *)
Theorem trimming_dominates (S T : finType) (p q : S -> R) (a b a' b' : T -> R) (l : R) :
  distribution p -> distribution q -> 0 < l ->
  (forall x, 0 <= b x) -> (forall x, 0 <= b' x) -> \sum_x a' x = 1 ->
  (forall x, l * b' x <= a' x) ->
  (forall x, (a' x = a x /\ b' x = b x) \/ (a x <= l * b x /\ a' x = l * b' x)) ->
  dominated p q a b -> dominated p q a' b'.
Proof. exact: trimmed_dominates. Qed.

(** Outcomes of the same ratio may be merged without loss. *)
Theorem merging_same_ratios (S T : finType) (g : S -> T) (c d : T -> R)
    (weight p q : S -> R) (e : R) :
  (forall x, 0 <= weight x) ->
  (forall x, p x = c (g x) * weight x) -> (forall x, q x = d (g x) * weight x) ->
  hs e (merged g p) (merged g q) = hs e p q.
Proof. exact: merge_same_ratio. Qed.

(** Where only a part of both laws is known, [p'] and [q'], what is left out is added to the
    divergence, or subtracted. Totals may be below 1: [T] may be any window of outcomes. *)
Theorem bounds_from_a_part (T : finType) (p q p' q' : T -> R) (e : R) :
  0 <= e -> (forall x, p' x <= p x) -> (forall x, q' x <= q x) ->
  \sum_x p x <= 1 -> \sum_x q x <= 1 ->
  \sum_x pos (p' x - e * q' x) - e * (1 - \sum_x q' x) <= hs e p q
    <= 1 - \sum_x Num.min (p' x) (e * q' x).
Proof. by move=> *; rewrite hs_ge_part ?hs_le_part. Qed.

(** Which view shows most: how often each message was sent. *)
Section Histogram.
Variables (Y T : finType) (N : nat) (e : R) (mu nu : {ffun 'I_N -> Y} -> R).

Theorem histogram_shows_most (view : {ffun 'I_N -> Y} -> T -> R) :
  kernel view -> order_blind view ->
  hs e (push view mu) (push view nu)
    <= hs e (push (observe R (@histogram Y N)) mu) (push (observe R (@histogram Y N)) nu).
Proof. exact: blind_le_histogram. Qed.

Theorem random_order_shows_as_much :
  hs e (push (@random_order R Y N) mu) (push (@random_order R Y N) nu)
    = hs e (push (observe R (@histogram Y N)) mu) (push (observe R (@histogram Y N)) nu).
Proof. exact: hs_random_order. Qed.

End Histogram.

(** Two messages: the target user sends a 1 with probability [a] or [b], and person [i] of
    [n] others with probability [u i]. *)
Section TwoMessages.
Variables (n : nat) (e a b : R) (u : 'I_n -> R).

Let number (a : R) (u : 'I_n -> R) := push (observe R (@ones n.+1)) (bits a u).

(** The number of ones shows as much as the histogram. *)
Theorem ones_show_as_much :
  hs e (push (observe R (@histogram _ n.+1)) (bits a u))
       (push (observe R (@histogram _ n.+1)) (bits b u)) = hs e (number a u) (number b u).
Proof. exact: hs_ones. Qed.

Theorem number_of_ones_log_concave :
  probabilities u -> log_concave (heads_law u).
Proof. exact: heads_law_concave. Qed.

(** The exact divergence. [shifted f s] is [f (s - 1)], and 0 for [s = 0]. *)
Theorem two_messages_exact :
  hs e (number a u) (number b u) =
  \sum_(s < n.+2) pos ((a - e * b) * shifted (heads_law u) s
                       - (e * (1 - b) - (1 - a)) * heads_law u s).
Proof. exact: hs_bits. Qed.

(** It is the largest excess of an event "at least t ones", *)
Theorem two_messages_threshold :
  probabilities u -> e * b <= a ->
  let excess t := (a - e * b) * shifted (heads_law u) t
                  - (e - 1) * \sum_(t <= s < n.+1) heads_law u s in
  (exists t, hs e (number a u) (number b u) = excess t) /\
  (forall t, excess t <= hs e (number a u) (number b u)).
Proof. exact: two_messages_event. Qed.

(** or 0 if the target user's own message is as likely as that. *)
Theorem two_messages_zero :
  probabilities u -> 1 <= e -> b <= a <= 1 -> a <= e * b ->
  hs e (number a u) (number b u) = 0.
Proof. exact: hs_bits_zero. Qed.

(** Who holds which value does not matter. *)
Theorem two_messages_renamed (s : 'S_n) :
  hs e (number a (fun i => u (s i))) (number b (fun i => u (s i)))
    = hs e (number a u) (number b u).
Proof. exact: hs_bits_renamed. Qed.

(** Worst data: whatever is seen, it is worst if every person's probability is at an end of
    its interval. *)
Theorem worst_data (T : finType) (view : {ffun 'I_n.+1 -> bool} -> T -> R)
    (lo hi : 'I_n -> R) :
  (forall i, lo i <= u i <= hi i) ->
  exists u' : 'I_n -> R,
    (forall i, u' i = lo i \/ u' i = hi i) /\
    hs e (push view (bits a u)) (push view (bits b u))
      <= hs e (push view (bits a u')) (push view (bits b u')).
Proof. by move=> between; apply: worst_data_at_ends. Qed.

End TwoMessages.

(** The same for any messages: where the others' distributions are mixtures, it is worst if
    every person sends by one of the parts. *)
Theorem worst_parts (Y T J : finType) (n : nat) (view : {ffun 'I_n.+1 -> Y} -> T -> R)
    (w : 'I_n -> J -> R) (part : 'I_n -> J -> Y -> R) (e : R) (p q : Y -> R) :
  (forall i, distribution (w i)) ->
  let mixed i v := \sum_j w i j * part i j v in
  exists c : {ffun 'I_n -> J},
    hs e (push view (sent p mixed)) (push view (sent q mixed))
      <= hs e (push view (sent p (fun i => part i (c i))))
              (push view (sent q (fun i => part i (c i)))).
Proof. by move=> dist mixed; apply: extreme_data. Qed.

(** Counts among geometric noise: a bucket shows A + Z messages "+" and B + Z messages "-",
    A and B geometric with ratio [p], and Z pairs of any law [pairs]. *)
Section Counts.
Variables (p : R) (pairs : nat -> R).

Let g := flood p pairs.

Theorem counts_closed_form (x y : nat) :
  let u := minn x y in
  bucket p pairs x y = (1 - p) ^+ 2 * p ^+ (x + y - 2 * u) * g u.
Proof. exact: bucket_closed_form. Qed.

(** With one "+" more [x, y] is as likely as [x - 1, y] without; the ratio depends on [x]
    alone where [x <= y], and is [1 / p] elsewhere. *)
Theorem counts_ratio (x y : nat) :
  if (x <= y)%N then bucket_more p pairs x y * g x = p * shifted g x * bucket p pairs x y
  else p * bucket_more p pairs x y = bucket p pairs x y.
Proof. exact: bucket_ratio. Qed.

(** Masses of [k] outcomes in a row, without and with the message; [p ^+ k] vanishes as [k]
    grows. *)
Theorem counts_masses (u k : nat) :
  [/\ \sum_(j < k) bucket p pairs u (u + j) = (1 - p) * (1 - p ^+ k) * g u,
      \sum_(j < k) bucket_more p pairs u (u + j)
        = (1 - p) * (1 - p ^+ k) * (p * shifted g u),
      \sum_(j < k) bucket p pairs (u + j).+1 u = (1 - p) * (1 - p ^+ k) * (p * g u)
    & \sum_(j < k) bucket_more p pairs (u + j).+1 u = (1 - p) * (1 - p ^+ k) * g u].
Proof. exact: bucket_masses. Qed.

Theorem counts_total (m : nat) :
  (1 - p ^+ 2) * (\sum_(u < m.+1) g u) + p ^+ 2 * g m = \sum_(z < m.+1) pairs z.
Proof. exact: flood_mass. Qed.

Hypotheses (p_probability : 0 <= p <= 1) (pairs_ge0 : forall z, 0 <= pairs z).

(** In any window, what matters of an outcome is [x] if [x <= y], and nothing otherwise: no
    divergence is lost, for a message sent with any probability [r]. *)
Theorem counts_one_dimension (r e : R) (N : nat) :
  hs e (merged (@cell N) (with_message p pairs r (N := N)))
       (merged (@cell N) (without_message p pairs (N := N)))
    = hs e (with_message p pairs r (N := N)) (without_message p pairs (N := N)).
Proof. exact: one_dimension. Qed.

(** No ratio exceeds [1 / p]; they rise with [x] if the law of the pairs is log-concave. *)
Theorem counts_ratios_rise :
  (forall x, p ^+ 2 * shifted g x <= g x) /\
  (log_concave pairs -> rising (shifted g) g).
Proof.
split=> [x|concave]; first exact: flood_step.
by apply: shifted_rising; [apply: flood_ge0 | apply: flood_concave].
Qed.

End Counts.

(** Poisson noise of mean [m], without the factor exp(- m): the ratio at [x] is [x / m]. *)
Theorem poisson_counts (m : R) :
  (forall x, shifted (poisson m) x * m = x%:R * poisson m x) /\
  (0 <= m -> rising (shifted (poisson m)) (poisson m)).
Proof.
split=> [x|m0]; first exact: poisson_ratio.
apply: shifted_rising => [x|]; last exact: poisson_concave.
by rewrite divr_ge0 ?exprn_ge0 ?ler0n.
Qed.

(** Poisson and geometric noise, and negative binomial pairs of the shape [a / b], are of
    one class, up to the factor that makes the total 1. What people draw adds up to the
    noise. *)
Theorem noise_adds_up (a a' b : R) (x : nat) :
  convolution (panjer a b) (panjer a' b) x = panjer (a + a') b x.
Proof. exact: panjer_parts. Qed.

Theorem noise_of_one_class (m p : R) (x : nat) :
  panjer m 0 x = poisson m x /\ panjer p p x = p ^+ x.
Proof. by split; [exact: panjer_poisson | exact: panjer_geometric]. Qed.

(** The class is log-concave for shapes from 1 on. *)
Theorem pairs_log_concave (a b : R) : 0 <= b -> b <= a -> log_concave (panjer a b).
Proof. exact: panjer_concave. Qed.

(** Dummies of the shuffler: the ratio is [p] up to [c], and [1 / p] beyond. *)
Theorem dummies_counts (p : R) (c x : nat) :
  if (x < c)%N then dummies p c x = p * dummies p c x.+1
  else p * dummies p c x = dummies p c x.+1.
Proof. exact: dummies_ratio. Qed.

(** Other people's answers, and the noise of more people, are independent of the target user
    and added on top. *)
Theorem added_on_top (T U V : finType) (add : T -> U -> V) (others : U -> R) (e : R)
    (p q : T -> R) :
  distribution others -> hs e (added add others p) (added add others q) <= hs e p q.
Proof. exact: hs_added. Qed.

(** A message moves from one bucket to another. [p i] and [q i] are the laws of bucket [i]
    with the message and without it; the buckets are independent. *)
Theorem moved_message (I T : finType) (p q : I -> T -> R) (e : R) (x x' : I) :
  x != x' -> (forall i, distribution (q i)) ->
  hs e (message_at p q x) (message_at p q x') =
  hs e (fun y : T * T => p x y.1 * q x' y.2) (fun y => q x y.1 * p x' y.2).
Proof. exact: hs_moved. Qed.

(** For every count of the other bucket, of probabilities [a] and [b], the best event is a
    half line. *)
Theorem half_line_for_each_count (p q : nat -> R) (a b e : R) (N : nat) :
  (forall x, 0 <= p x) -> (forall x, 0 <= q x) -> 0 <= a -> rising p q ->
  exists t, \sum_(x < N) pos (p x * a - e * (q x * b))
            = \sum_(x < N | (t <= x)%N) (p x * a - e * (q x * b)).
Proof. exact: half_lines. Qed.

End Statements.
