(** Sums of products over functions: what is drawn and not looked at sums to one. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

(** A big operation over the image of an injection. *)
Lemma big_codom (S : Type) (idx : S) (op : Monoid.com_law idx) (I J : finType)
    (f : J -> I) (P : pred I) (F : I -> S) :
  injective f ->
  \big[op/idx]_(i | (i \in codom f) && P i) F i = \big[op/idx]_(j | P (f j)) F (f j).
Proof.
move=> inj_f; rewrite big_mkcondr /= -big_uniq; last exact/injectiveP.
by rewrite big_image -big_mkcond.
Qed.

(** Every subset of m elements is the image of an injection of 0, ..., m - 1. *)
Lemma injection_onto (I : finType) (A : pred I) m :
  #|A| = m -> exists2 f : 'I_m -> I, injective f & codom f =i A.
Proof.
move<-; exists (@enum_val I A); first exact: enum_val_inj.
move=> i; apply/codomP/idP => [[j ->]|Ai]; first exact: enum_valP.
by exists (enum_rank_in Ai i); rewrite enum_rankK_in.
Qed.

Section Marginal.
Variables (R : comRingType) (Y I J : finType) (f : J -> I).
Hypothesis inj_f : injective f.
Implicit Type mu : I -> Y -> R.

(** The coordinates outside of the image of [f], given those inside. *)
Lemma total_outside mu (z : {ffun J -> Y}) :
  (forall i, i \notin codom f -> \sum_v mu i v = 1) ->
  \sum_(y : {ffun I -> Y} | [ffun j => y (f j)] == z)
     \prod_(i | i \notin codom f) mu i (y i) = 1.
Proof.
move=> mu1; pose Q i : pred Y := fun v => [forall j, (f j == i) ==> (z j == v)].
pose F i v := if i \in codom f then 1 else mu i v.
transitivity (\prod_i \sum_(v | Q i v) F i v).
  rewrite bigA_distr_big_dep; apply: eq_big => [y|y _]; last first.
    by rewrite big_mkcond; apply: eq_bigr => i _; rewrite /F if_neg.
  apply/eqP/familyP => [yz i | yQ]; last first.
    by apply/ffunP => j; rewrite ffunE; have /forallP/(_ j) := yQ (f j);
       rewrite eqxx => /eqP.
  by apply/forallP => j; apply/implyP => /eqP <-; rewrite -yz ffunE.
apply: big1 => i _; rewrite /F; case: (boolP (i \in codom f)) => [/codomP[j ->]|out].
  rewrite (big_pred1 (z j)) // => v; apply/forallP/eqP => [/(_ j)|-> k].
    by rewrite eqxx => /eqP.
  by apply/implyP => /eqP/inj_f ->.
rewrite -[RHS](mu1 i out); apply: eq_bigl => v; apply/forallP => j.
by apply/implyP => /eqP fj; case/codomP: out; exists j.
Qed.

Lemma marginal mu (G : {ffun J -> Y} -> R) :
  (forall i, i \notin codom f -> \sum_v mu i v = 1) ->
  \sum_(y : {ffun I -> Y})
     (\prod_(i | i \notin codom f) mu i (y i)) * G [ffun j => y (f j)] = \sum_z G z.
Proof.
move=> mu1; rewrite (partition_big (fun y : {ffun I -> Y} => [ffun j => y (f j)]) predT) //.
apply: eq_bigr => z _; transitivity (1 * G z); last by rewrite mul1r.
rewrite -[in RHS](total_outside z mu1) mulr_suml.
by apply: eq_bigr => y /= /eqP ->.
Qed.

End Marginal.
