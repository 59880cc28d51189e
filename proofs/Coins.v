(** What falls with the number of heads is smaller for larger coins. *)
From mathcomp Require Import all_ssreflect all_algebra fingroup perm.
From Shuffled Require Import Divergence Marginal Shuffle Blanket.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Order.
Variable R : realFieldType.
Implicit Type f : nat -> R.

Definition antitone f : Prop := forall m m', (m <= m')%N -> f m' <= f m.

(** Summation by parts. *)
Lemma sum_by_parts (P : nat -> R) f n :
  \sum_(m < n.+1) P m * f m =
  (\sum_(m < n.+1) P m) * f n + \sum_(t < n) (\sum_(m < t.+1) P m) * (f t - f t.+1).
Proof.
elim: n => [|n IH]; first by rewrite !big_ord1 big_ord0 addr0.
rewrite big_ord_recr /= IH [in RHS]big_ord_recr [X in _ = _ + X]big_ord_recr /=.
rewrite mulrDl mulrBr [X in _ = _ + X]addrC [RHS]addrACA.
by rewrite [X in _ = X + _]addrC subrK -addrA [X in _ + X]addrC.
Qed.

(** Any law of the number of heads may be replaced by a stochastically smaller one, [P']:
    it is at least as likely to be below any bound. *)
Theorem stochastically_smaller (P P' : nat -> R) f n :
  antitone f ->
  (forall t, \sum_(m < t) P m <= \sum_(m < t) P' m) ->
  \sum_(m < n.+1) P m = \sum_(m < n.+1) P' m ->
  \sum_(m < n.+1) P m * f m <= \sum_(m < n.+1) P' m * f m.
Proof.
move=> anti below total; rewrite !sum_by_parts total ler_add2l.
by apply: ler_sum => t _; rewrite ler_wpmul2r ?subr_ge0 ?anti.
Qed.

End Order.

Section Coupling.
Variables (R : realFieldType) (n : nat) (gamma gamma' : 'I_n -> R).
Hypotheses (prob : probabilities gamma) (prob' : probabilities gamma').
Hypothesis smaller : forall i, gamma' i <= gamma i.

(** Heads of [gamma i] stay heads with probability [gamma' i / gamma i]. *)
Let stay i : R := gamma' i / gamma i.

Let keep i (c c' : bool) : R := if c then coin (stay i) c' else (~~ c')%:R.

Lemma stay_prob i : 0 <= stay i <= 1.
Proof.
case/andP: (prob i) (prob' i) => g0 _ /andP[g'0 _]; rewrite /stay divr_ge0 //=.
have [->|ne0] := eqVneq (gamma i) 0; first by rewrite invr0 mulr0 ler01.
by rewrite ler_pdivr_mulr ?lt_neqAle 1?eq_sym ?ne0 // mul1r.
Qed.

Lemma keep_ge0 i c c' : 0 <= keep i c c'.
Proof. by case: c => /=; rewrite ?ler0n ?coin_ge0 ?stay_prob. Qed.

Lemma keep_total i c : \sum_c' keep i c c' = 1.
Proof. by case: c => /=; rewrite ?coin_total // big_bool /= add0r. Qed.

Lemma keep_coin i c' : \sum_c coin (gamma i) c * keep i c c' = coin (gamma' i) c'.
Proof.
have -> : gamma' i = gamma i * stay i.
  have [g0|ne0] := eqVneq (gamma i) 0; last by rewrite /stay mulrC divfK.
  have := smaller i; rewrite g0 mul0r => le0; apply/eqP; rewrite eq_le le0 /=.
  by case/andP: (prob' i).
rewrite big_bool /=; case: c' => /=; first by rewrite mulr0 addr0.
by rewrite mulrBr !mulr1 addrC addrA subrK.
Qed.

Let joint (b b' : {ffun 'I_n -> bool}) : R := \prod_i keep i (b i) (b' i).

Lemma joint_total b : \sum_b' joint b b' = 1.
Proof.
by rewrite -(bigA_distr_bigA (fun i => keep i (b i))) big1 // => i _; apply: keep_total.
Qed.

Lemma joint_coins b' : \sum_b coins gamma b * joint b b' = coins gamma' b'.
Proof.
rewrite /coins /joint; under eq_bigr do rewrite -big_split /=.
rewrite -(bigA_distr_bigA (fun i c => coin (gamma i) c * keep i c (b' i))).
by apply: eq_bigr => i _; apply: keep_coin.
Qed.

Lemma joint_heads b b' : joint b b' != 0 -> (heads b' <= heads b)%N.
Proof.
move=> /prodf_neq0 ne0; apply/subset_leq_card/subsetP => i; rewrite !inE => b'i.
by have := ne0 i isT; rewrite /keep b'i; case: (b i) => //; rewrite eqxx.
Qed.

(** (c) Coins may be replaced by smaller ones. *)
Theorem smaller_coins (f : nat -> R) :
  antitone f ->
  \sum_b coins gamma b * f (heads b) <= \sum_b coins gamma' b * f (heads b).
Proof.
move=> anti; under [leRHS]eq_bigr do rewrite -joint_coins mulr_suml.
rewrite exchange_big /=; apply: ler_sum => b _.
rewrite -[leLHS]mulr1 -(joint_total b) mulr_sumr; apply: ler_sum => b' _.
rewrite mulrAC; have [->|ne0] := eqVneq (joint b b') 0; first by rewrite !mulr0 !mul0r.
rewrite ler_wpmul2l ?mulr_ge0 ?coins_ge0 ?prodr_ge0 //.
  by move=> i _; apply: keep_ge0.
exact/anti/joint_heads.
Qed.

End Coupling.

Section Renaming.
Variables (R : realFieldType) (n : nat).

(** Who has which coin does not matter. *)
Lemma renamed_coins (s : 'S_n) (gamma : 'I_n -> R) (f : nat -> R) :
  \sum_b coins (fun i => gamma (s i)) b * f (heads b) =
  \sum_b coins gamma b * f (heads b).
Proof.
pose h (b : {ffun 'I_n -> bool}) := [ffun i => b (s i)].
have inj_h : injective h.
  move=> b b' /ffunP eq_h; apply/ffunP => i.
  by have := eq_h (s^-1 i)%g; rewrite !ffunE permKV.
rewrite (reindex_inj inj_h); apply: eq_bigr => b _; congr (_ * f _).
  rewrite /coins [RHS](reindex_inj (@perm_inj _ s)).
  by apply: eq_bigr => i _; rewrite ffunE.
rewrite /heads -!sum1_card [RHS](reindex_inj (@perm_inj _ s)).
by apply: eq_bigl => i; rewrite !inE ffunE.
Qed.

End Renaming.
