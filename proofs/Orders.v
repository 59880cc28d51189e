(** What is seen of shuffled messages: histograms, random orders, sorted sealed batches. *)
From mathcomp Require Import all_ssreflect all_algebra fingroup perm.
From Shuffled Require Import Divergence Marginal Shuffle.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Orders.
Variables (R : realFieldType) (Y : finType) (N : nat).
Implicit Types (y : {ffun 'I_N -> Y}) (s : 'S_N).

Definition permuted (Z : finType) (s : 'S_N) (y : {ffun 'I_N -> Z}) : {ffun 'I_N -> Z} :=
  [ffun i => y (s i)].

Lemma permutedM (Z : finType) (s s' : 'S_N) (y : {ffun 'I_N -> Z}) :
  permuted s (permuted s' y) = permuted (s * s')%g y.
Proof. by apply/ffunP => i; rewrite !ffunE permM. Qed.

Lemma permuted_inj (Z : finType) (s : 'S_N) : injective (@permuted Z s).
Proof.
move=> y y' /ffunP eq_p; apply/ffunP => i.
by have := eq_p (s^-1 i)%g; rewrite !ffunE permKV.
Qed.

(** How often each message was sent. *)
Definition histogram (y : {ffun 'I_N -> Y}) : {ffun Y -> 'I_N.+1} :=
  [ffun v => inord #|[pred i | y i == v]|].

Definition observe (T : finType) (g : {ffun 'I_N -> Y} -> T) y (t : T) : R :=
  (g y == t)%:R.

Lemma histogram_permuted s y : histogram (permuted s y) = histogram y.
Proof.
apply/ffunP => v; rewrite !ffunE; congr (inord _).
rewrite -!sum1_card [RHS](reindex_inj (@perm_inj _ s)).
by apply: eq_bigl => i; rewrite !inE ffunE.
Qed.

Lemma observe_kernel (T : finType) (g : {ffun 'I_N -> Y} -> T) : kernel (observe g).
Proof.
move=> y; split=> [t|]; first exact: ler0n.
rewrite /observe (bigD1 (g y)) //= eqxx big1 ?addr0 // => t.
by rewrite eq_sym => /negPf ->.
Qed.

Lemma histogram_blind : order_blind (observe histogram).
Proof. by move=> s y t; rewrite /observe histogram_permuted. Qed.

(** All orders are equally likely. *)
Definition random_order y (y' : {ffun 'I_N -> Y}) : R :=
  #|'S_N|%:R^-1 * \sum_(s : 'S_N) (permuted s y == y')%:R.

Lemma random_order_kernel : kernel random_order.
Proof.
move=> y; split=> [y'|].
  by rewrite mulr_ge0 ?invr_ge0 ?ler0n //; apply: sumr_ge0 => s _; apply: ler0n.
rewrite -mulr_sumr exchange_big /= (eq_bigr (fun=> 1)) => [|s _]; last first.
  by case: (observe_kernel (permuted s) y).
by rewrite sumr_const mulVf // pnatr_eq0 -lt0n; apply/card_gt0P; exists 1%g.
Qed.

Lemma random_order_blind : order_blind random_order.
Proof.
move=> s y y'; congr (_ * _); rewrite [RHS](reindex_inj (mulIg s)) /=.
by apply: eq_bigr => s' _; rewrite -permutedM.
Qed.

(** (f) An order that no party draws: device [i] seals its message [v] as [seal v u] with randomness
    [u] of its own, and the analyst gets a function [batch] of the sealed messages that does
    not depend on their order - sorted ones, say. *)
Section Sealed.
Variables (U C T : finType) (seal : Y -> U -> C) (batch : {ffun 'I_N -> C} -> T).
Variable rho : {ffun 'I_N -> U} -> R.

Definition sealed_batch y (t : T) : R :=
  \sum_u rho u * (batch [ffun i => seal (y i) (u i)] == t)%:R.

Hypothesis rho_dist : distribution rho.
Hypothesis rho_exchangeable : forall s u, rho (permuted s u) = rho u.
Hypothesis batch_orderless : forall s c, batch (permuted s c) = batch c.

Lemma sealed_batch_kernel : kernel sealed_batch.
Proof.
move=> y; case: rho_dist => rho0 rho1; split=> [t|].
  by apply: sumr_ge0 => u _; rewrite mulr_ge0 ?ler0n.
rewrite exchange_big -[RHS]rho1 /=; apply: eq_bigr => u _; rewrite -mulr_sumr.
rewrite (bigD1 (batch [ffun i => seal (y i) (u i)])) //= eqxx big1 => [|t].
  by rewrite addr0 mulr1.
by rewrite eq_sym => /negPf ->.
Qed.

Lemma sealed_batch_blind : order_blind sealed_batch.
Proof.
move=> s y t; rewrite /sealed_batch (reindex_inj (@permuted_inj _ s)).
apply: eq_bigr => u _; rewrite rho_exchangeable -[in RHS](batch_orderless s).
by congr (_ * (batch _ == t)%:R); apply/ffunP => i; rewrite !ffunE.
Qed.

End Sealed.

(** Whatever is done to the histogram at random is blind to the order, too. *)
Lemma from_histogram_blind (T : finType) (k : {ffun Y -> 'I_N.+1} -> T -> R) :
  order_blind (fun y => k (histogram y)).
Proof. by move=> s y t; rewrite histogram_permuted. Qed.

End Orders.
