(** The blanket theorem: n people with randomizers of their own hide one among them. *)
From mathcomp Require Import all_ssreflect all_algebra fingroup perm.
From Shuffled Require Import Divergence Marginal Shuffle.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Coins.
Variables (R : realFieldType) (n : nat).

Definition coin (g : R) (c : bool) : R := if c then g else 1 - g.

(** The law of independent coins: coin [i] shows heads with probability [gamma i]. *)
Definition coins (gamma : 'I_n -> R) (b : {ffun 'I_n -> bool}) : R :=
  \prod_i coin (gamma i) (b i).

Definition heads (b : {ffun 'I_n -> bool}) : nat := #|[pred i | b i]|.

Definition probabilities (gamma : 'I_n -> R) : Prop := forall i, 0 <= gamma i <= 1.

Lemma coin_ge0 g c : 0 <= g <= 1 -> 0 <= coin g c.
Proof. by case/andP => g0 g1; case: c => //=; rewrite subr_ge0. Qed.

Lemma coins_ge0 gamma b : probabilities gamma -> 0 <= coins gamma b.
Proof. by move=> prob; apply: prodr_ge0 => i _; apply: coin_ge0. Qed.

Lemma coin_total g : \sum_c coin g c = 1.
Proof. by rewrite big_bool /= addrC subrK. Qed.

Lemma coins_total gamma : \sum_b coins gamma b = 1.
Proof.
rewrite /coins -(bigA_distr_bigA (fun i => coin (gamma i))).
by apply: big1 => i _; apply: coin_total.
Qed.

End Coins.

Section Rest.
Variables (R : realFieldType) (Y : finType) (omega : Y -> R).
Hypothesis omega_dist : distribution omega.

(** What is left of the law [r] once [g] times [omega] has been taken out. *)
Definition rest (g : R) (r : Y -> R) (v : Y) : R :=
  if g == 1 then omega v else (r v - g * omega v) / (1 - g).

Definition part (g : R) (r : Y -> R) (c : bool) : Y -> R := if c then omega else rest g r.

Variables (g : R) (r : Y -> R).
Hypotheses (r_dist : distribution r) (g01 : 0 <= g <= 1).
Hypothesis covered : forall v, g * omega v <= r v.

Lemma rest_dist : distribution (rest g r).
Proof.
rewrite /rest; case: eqVneq => [_|ne1]; first exact: omega_dist.
have g1 : 0 < 1 - g by rewrite subr_gt0 lt_neqAle ne1; case/andP: g01.
split=> [v|]; first by rewrite divr_ge0 ?subr_ge0 ?covered; case/andP: g01.
rewrite -mulr_suml sumrB -mulr_sumr; case: omega_dist r_dist => _ -> [_ ->].
by rewrite mulr1 divff ?gt_eqF.
Qed.

(** With weight one nothing is left. *)
Lemma covered_one v : g = 1 -> r v = omega v.
Proof.
move=> g1; have ge0 u : true -> 0 <= r u - omega u.
  by rewrite subr_ge0 -[omega u]mul1r -g1.
have sum0 : \sum_u (r u - omega u) = 0.
  by rewrite sumrB; case: omega_dist r_dist => _ -> [_ ->]; rewrite subrr.
by apply/eqP; rewrite -subr_eq0 (psumr_eq0P ge0 sum0).
Qed.

Lemma part_mixture v : r v = \sum_c coin g c * part g r c v.
Proof.
rewrite big_bool /= /rest; case: eqVneq => [g1|ne1].
  by rewrite covered_one // g1 subrr mul0r mul1r addr0.
by rewrite [X in _ + X]mulrC divfK ?subr_eq0 1?eq_sym // addrC subrK.
Qed.

End Rest.

Section Crowd.
Variables (R : realFieldType) (Y : finType) (n : nat).
Variables (omega : Y -> R) (gamma : 'I_n -> R) (r : 'I_n -> Y -> R).
Hypotheses (omega_dist : distribution omega) (gamma_prob : probabilities gamma).
Hypothesis r_dist : forall i, distribution (r i).
Hypothesis covered : forall i v, gamma i * omega v <= r i v.
Variables (T : finType) (K : {ffun 'I_n.+1 -> Y} -> T -> R).
Hypotheses (K_kernel : kernel K) (K_blind : order_blind K).
Implicit Types (p q : Y -> R) (b : {ffun 'I_n -> bool}).

(** The laws of the others' messages once it is known who sends a blanket message. *)
Let known b i : Y -> R := part omega (gamma i) (r i) (b i).

(** Step 1: the law of all messages is a mixture over who sends blanket messages. *)
Lemma sent_mixture p y : sent p r y = \sum_b coins gamma b * sent p (known b) y.
Proof.
rewrite /sent; under [RHS]eq_bigr do rewrite mulrCA; rewrite -mulr_sumr; congr (_ * _).
under eq_bigr do rewrite (part_mixture omega_dist (r_dist _) (covered _)).
by rewrite bigA_distr_bigA; apply: eq_bigr => b _; rewrite big_split.
Qed.

Lemma push_sent_mixture p :
  push K (sent p r) =1 fun t => \sum_b coins gamma b * push K (sent p (known b)) t.
Proof.
move=> t; rewrite /push; under eq_bigr do rewrite sent_mixture mulr_suml.
rewrite exchange_big; apply: eq_bigr => b _; rewrite mulr_sumr.
by apply: eq_bigr => y _; rewrite mulrA.
Qed.

(** The people whose messages are draws from [omega], and the target user. *)
Let hiding b : pred 'I_n.+1 := fun j => if unlift ord0 j is Some i then b i else true.

Lemma card_hiding b : #|hiding b| = (heads b).+1.
Proof.
rewrite (cardD1 ord0) /heads unfold_in /hiding unlift_none add1n; congr _.+1.
rewrite -[RHS](card_image (@lift_inj _ ord0)); apply: eq_card => j; rewrite !inE.
apply/andP/imageP => [[ne0]|[i bi ->]].
  rewrite unfold_in; case: unliftP ne0 => [i -> _ bi|->]; last by rewrite eqxx.
  by exists i.
by rewrite unfold_in /= liftK.
Qed.

Let all_laws b (j : 'I_n.+1) : Y -> R :=
  if unlift ord0 j is Some i then known b i else omega.

Lemma sent_all_laws b p :
  sent p (known b) =1 fun y => p (y ord0) * \prod_(j | j != ord0) all_laws b j (y j).
Proof.
move=> y; congr (_ * _); rewrite [RHS]big_mkcond big_ord_recl /= mul1r.
by apply: eq_bigr => i _; rewrite /all_laws liftK.
Qed.

Lemma all_laws_dist b j : distribution (all_laws b j).
Proof.
rewrite /all_laws; case: unliftP => // i _; rewrite /known /part.
by case: (b i) => //; apply: rest_dist.
Qed.

Lemma hs_known e p q b :
  hs e (push K (sent p (known b))) (push K (sent q (known b)))
    <= hs e (placed omega p (m := heads b)) (placed omega q (m := heads b)).
Proof.
have [f inj_f im_f] := injection_onto (card_hiding b).
have push_all p' : push K (sent p' (known b)) =1 push K (fun y =>
    p' (y ord0) * \prod_(j | j != ord0) all_laws b j (y j)).
  by move=> t; apply: eq_bigr => y _; rewrite sent_all_laws.
rewrite (eq_hs e (push_all p) (push_all q)); apply: (hs_at_place inj_f) => //.
- by rewrite im_f unfold_in /hiding unlift_none.
- move=> k; have := codom_f f k; rewrite im_f unfold_in /hiding /all_laws.
  by case: unliftP => // i _; rewrite /known /part => ->.
- by move=> j _; case: (all_laws_dist b j).
- by move=> j v _; case: (all_laws_dist b j).
Qed.

(** (b) The blanket theorem. *)
Theorem blanket e p q :
  hs e (push K (sent p r)) (push K (sent q r)) <=
  \sum_b coins gamma b * hs e (placed omega p (m := heads b))
                              (placed omega q (m := heads b)).
Proof.
rewrite (eq_hs e (push_sent_mixture p) (push_sent_mixture q)).
apply: le_trans (hs_mixture _ _ _ _) _ => [b|]; first exact: coins_ge0.
by apply: ler_sum => b _; rewrite ler_wpmul2l ?coins_ge0 ?hs_known.
Qed.

End Crowd.
