(** The blanket theorem in the form that the library evaluates. *)
From mathcomp Require Import all_ssreflect all_algebra fingroup perm.
From Shuffled Require Import Divergence Marginal Shuffle Blanket Monotone Coins.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Definitions.
Variables (R : realFieldType) (Y : finType).

(** The probability that exactly [m] of the coins show heads: M of the theorem. *)
Definition heads_law n (gamma : 'I_n -> R) (m : nat) : R :=
  \sum_(b | heads b == m) coins gamma b.

(** The positive part of the mean of [m + 1] losses, for independent draws from [omega], in
    expectation. *)
Definition mean_excess (omega L : Y -> R) (m : nat) : R :=
  \sum_(y : {ffun 'I_m.+1 -> Y})
     (\prod_j omega (y j)) * pos (m.+1%:R^-1 * \sum_j L (y j)).

(** [omega] is positive wherever [p] is. *)
Definition covers (omega p : Y -> R) : Prop := forall v, omega v = 0 -> p v = 0.

Definition loss (omega : Y -> R) (e : R) (p q : Y -> R) (v : Y) : R :=
  (p v - e * q v) / omega v.

(** The weights if the people in [A] are not relied on. *)
Definition without n (A : {set 'I_n}) (gamma : 'I_n -> R) (i : 'I_n) : R :=
  if i \in A then 0 else gamma i.

End Definitions.

Section Evaluation.
Variables (R : realFieldType) (Y : finType) (omega : Y -> R).
Hypothesis omega_dist : distribution omega.
Implicit Types (p q : Y -> R) (f : nat -> R).

Lemma heads_le n (b : {ffun 'I_n -> bool}) : (heads b < n.+1)%N.
Proof. by rewrite ltnS -[X in (_ <= X)%N]card_ord max_card. Qed.

Lemma sum_by_heads n (gamma : 'I_n -> R) f :
  \sum_b coins gamma b * f (heads b) = \sum_(m < n.+1) heads_law gamma m * f m.
Proof.
rewrite (partition_big (fun b => Ordinal (heads_le b)) predT) //=.
apply: eq_bigr => m _; rewrite /heads_law mulr_suml.
by apply: eq_big => [b|b /eqP <-].
Qed.

Lemma hs_mean_excess e p q m :
  covers omega p -> covers omega q ->
  hs e (placed omega p (m := m)) (placed omega q (m := m)) =
  mean_excess omega (loss omega e p q) m.
Proof.
move=> cov_p cov_q; apply: hs_placed_value; last by case: omega_dist.
by move=> v omega0; rewrite cov_p ?cov_q.
Qed.

Lemma mean_excess_antitone e p q :
  covers omega p -> covers omega q -> antitone (mean_excess omega (loss omega e p q)).
Proof.
by move=> cov_p cov_q m m' le; rewrite -!hs_mean_excess // hs_placed_antitone.
Qed.

Lemma without_prob n (A : {set 'I_n}) (gamma : 'I_n -> R) :
  probabilities gamma -> probabilities (without A gamma).
Proof. by move=> prob i; rewrite /without; case: ifP; rewrite ?lexx ?ler01. Qed.

(** Nothing is assumed of the people in [A] but that they do not know the target user's
    value. *)
Theorem certificate n (gamma : 'I_n -> R) (A : {set 'I_n}) (r : 'I_n -> Y -> R)
    (T : finType) (K : {ffun 'I_n.+1 -> Y} -> T -> R) e p q :
  probabilities gamma -> (forall i, distribution (r i)) ->
  (forall i v, i \notin A -> gamma i * omega v <= r i v) ->
  covers omega p -> covers omega q -> kernel K -> order_blind K ->
  hs e (push K (sent p r)) (push K (sent q r)) <=
  \sum_(m < n.+1) heads_law (without A gamma) m * mean_excess omega (loss omega e p q) m.
Proof.
move=> prob r_dist covered cov_p cov_q kerK blind.
rewrite -sum_by_heads; under eq_bigr do rewrite -hs_mean_excess //.
apply: blanket => // [|i v]; first exact: without_prob.
rewrite /without; case: ifPn => [_|]; last exact: covered.
by rewrite mul0r; case: (r_dist i).
Qed.

(** Whichever coins are smaller, one by one and up to their order, give a larger value. *)
Theorem smaller_weights n (gamma gamma' : 'I_n -> R) (s : 'S_n) f :
  probabilities gamma -> probabilities gamma' -> (forall i, gamma' i <= gamma (s i)) ->
  antitone f ->
  \sum_(m < n.+1) heads_law gamma m * f m <= \sum_(m < n.+1) heads_law gamma' m * f m.
Proof.
move=> prob prob' smaller anti; rewrite -!sum_by_heads -(renamed_coins s).
exact: smaller_coins.
Qed.

End Evaluation.
