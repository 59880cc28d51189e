(** Everybody's data may be taken to be extreme: the divergence is convex in each person's
    distribution. *)
From mathcomp Require Import all_ssreflect all_algebra fingroup perm.
From Shuffled Require Import Divergence Shuffle Blanket.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Mean.
Variables (R : realFieldType) (C : finType) (w f : C -> R) (d : R).

(** A mean is at most one of the numbers that it is of. *)
Lemma mean_attained :
  (forall c, 0 <= w c) -> \sum_c w c = 1 -> d <= \sum_c w c * f c ->
  exists c, d <= f c.
Proof.
move=> w0 w1 le_d; case: (boolP [exists c, d <= f c]) => [/existsP //|].
rewrite negb_exists => /forallP below; exfalso.
have lt c : f c < d by rewrite ltNge below.
have ge0 c : true -> 0 <= w c * (d - f c) by rewrite mulr_ge0 ?subr_ge0 // ltW.
have sum0 : \sum_c w c * (d - f c) = 0.
  apply: le_anti; rewrite sumr_ge0 // andbT; under eq_bigr do rewrite mulrBr.
  by rewrite sumrB -mulr_suml w1 mul1r subr_le0.
have all0 c : w c = 0.
  have : w c * (d - f c) = 0 by apply: (psumr_eq0P ge0 sum0).
  by move/eqP; rewrite mulf_eq0 subr_eq0 (gt_eqF (lt c)) orbF => /eqP.
by move: w1; rewrite big1 // => /eqP; rewrite eq_sym oner_eq0.
Qed.

End Mean.

Section Extremes.
Variables (R : realFieldType) (Y T J : finType) (n : nat).
Variable view : {ffun 'I_n.+1 -> Y} -> T -> R.
(** Person [i] sends by a mixture, with weights [w i], of the laws [ext i]. *)
Variables (w : 'I_n -> J -> R) (ext : 'I_n -> J -> Y -> R).
Hypothesis w_dist : forall i, distribution (w i).
Implicit Types (p q : Y -> R) (c : {ffun 'I_n -> J}).

Let weight c : R := \prod_i w i (c i).

Lemma sent_extremes p (y : {ffun 'I_n.+1 -> Y}) :
  sent p (fun i v => \sum_j w i j * ext i j v) y =
  \sum_c weight c * sent p (fun i => ext i (c i)) y.
Proof.
rewrite /sent; under [RHS]eq_bigr do rewrite mulrCA; rewrite -mulr_sumr; congr (_ * _).
by rewrite bigA_distr_bigA; apply: eq_bigr => c _; rewrite big_split.
Qed.

Theorem extreme_data e p q :
  let seen p r := push view (sent p r) in
  exists c : {ffun 'I_n -> J},
    hs e (seen p (fun i v => \sum_j w i j * ext i j v))
         (seen q (fun i v => \sum_j w i j * ext i j v))
      <= hs e (seen p (fun i => ext i (c i))) (seen q (fun i => ext i (c i))).
Proof.
move=> seen; apply: (@mean_attained _ _ weight).
- by move=> c; apply: prodr_ge0 => i _; case: (w_dist i).
- by rewrite -(bigA_distr_bigA w) big1 // => i _; case: (w_dist i).
have mixed p' : seen p' (fun i v => \sum_j w i j * ext i j v) =1
    fun t => \sum_c weight c * seen p' (fun i => ext i (c i)) t.
  move=> t; rewrite /seen /push; under eq_bigr do rewrite sent_extremes mulr_suml.
  rewrite exchange_big; apply: eq_bigr => c _; rewrite mulr_sumr.
  by apply: eq_bigr => y _; rewrite mulrA.
rewrite (eq_hs e (mixed p) (mixed q)); apply: hs_mixture => c.
by apply: prodr_ge0 => i _; case: (w_dist i).
Qed.

End Extremes.
