(** Everybody sends a 1 or a 0: the exact divergence, and the worst data. *)
From mathcomp Require Import all_ssreflect all_algebra fingroup perm.
From Shuffled Require Import Divergence Shuffle Blanket Coins Certificate Orders Algebra.
From Shuffled Require Import Histogram Concave WorstData.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section HeadsLaw.
Variable R : realFieldType.

Lemma heads_sum n (b : {ffun 'I_n -> bool}) : heads b = (\sum_i b i)%N.
Proof.
rewrite /heads -sum1_card big_mkcond; apply: eq_bigr => i _.
by rewrite inE; case: (b i).
Qed.

(** The generating function of the number of heads. *)
Lemma heads_law_coef n (gamma : 'I_n -> R) m :
  heads_law gamma m = (\prod_i (gamma i *: 'X + (1 - gamma i)%:P))`_m.
Proof.
have -> : \prod_i (gamma i *: 'X + (1 - gamma i)%:P)
          = \prod_i \sum_(c : bool) coin (gamma i) c *: 'X^c.
  by apply: eq_bigr => i _; rewrite big_bool /= expr1 expr0 alg_polyC.
rewrite bigA_distr_bigA coef_sum /heads_law big_mkcond; apply: eq_bigr => b _.
have -> : \prod_i (coin (gamma i) (b i) *: 'X^(b i)) = coins gamma b *: 'X^(heads b).
  by rewrite scaler_prod heads_sum expr_sum.
by rewrite coefZ coefXn eq_sym; case: eqP; rewrite ?mulr1 ?mulr0.
Qed.

(** One coin more. *)
Lemma heads_law_coin n (gamma : 'I_n.+1 -> R) m :
  heads_law gamma m = gamma ord0 * shifted (heads_law (fun i => gamma (lift ord0 i))) m
                      + (1 - gamma ord0) * heads_law (fun i => gamma (lift ord0 i)) m.
Proof.
rewrite [LHS]heads_law_coef big_ord_recl [in LHS]mulrDl coefD -scalerAl mul_polyC.
rewrite !coefZ coefXM -!heads_law_coef.
by case: m => [|m] //=; rewrite heads_law_coef.
Qed.

Lemma heads_law_ge0 n (gamma : 'I_n -> R) m : probabilities gamma -> 0 <= heads_law gamma m.
Proof. by move=> prob; apply: sumr_ge0 => b _; apply: coins_ge0. Qed.

Lemma heads_law_beyond n (gamma : 'I_n -> R) m : (n < m)%N -> heads_law gamma m = 0.
Proof.
move=> lt; apply: big_pred0 => b; apply: contraTF lt => /eqP <-.
by rewrite -leqNgt -ltnS heads_le.
Qed.

(** Newton: the number of heads has a log-concave law. *)
Theorem heads_law_concave n (gamma : 'I_n -> R) :
  probabilities gamma -> log_concave (heads_law gamma).
Proof.
elim: n gamma => [|n IH] gamma prob i j le_ij.
  by rewrite [X in _ * X]heads_law_beyond // mulr0 mulr_ge0 ?heads_law_ge0.
rewrite !heads_law_coin; apply: (log_concave_coin (f := heads_law _)) => //.
- by move=> m; apply: heads_law_ge0 => k.
- by case/andP: (prob ord0).
- by case/andP: (prob ord0); rewrite subr_ge0.
- by apply: IH => k.
Qed.

End HeadsLaw.

Section Ones.
Variables (R : realFieldType) (n : nat).
Add Ring R_ring : (field_ring R).
Implicit Types (u : 'I_n -> R) (a b e : R) (t : nat).

(** How many messages are 1. *)
Definition ones N (y : {ffun 'I_N -> bool}) : 'I_N.+1 := inord (heads y).

Lemma ones_heads N (y : {ffun 'I_N -> bool}) : ones y = heads y :> nat.
Proof. by rewrite inordK ?heads_le. Qed.

Lemma ones_histogram N (y : {ffun 'I_N -> bool}) : ones y = histogram y true.
Proof.
apply: val_inj; rewrite /= ones_heads histogram_count.
by apply: eq_card => i; rewrite !inE; case: (y i).
Qed.

Lemma histogram_false N (y : {ffun 'I_N -> bool}) :
  histogram y false = (N - ones y)%N :> nat.
Proof.
rewrite ones_heads histogram_count /heads -[X in (X - _)%N]card_ord.
rewrite -(cardC [pred i | y i]) addKn; apply: eq_card => i.
by rewrite !inE; case: (y i).
Qed.

(** The number of ones shows all that the histogram does. *)
Lemma hs_ones N e (mu nu : {ffun 'I_N -> bool} -> R) :
  hs e (push (observe R (@histogram _ N)) mu) (push (observe R (@histogram _ N)) nu)
  = hs e (push (observe R (@ones N)) mu) (push (observe R (@ones N)) nu).
Proof.
apply: le_anti; apply/andP; split; apply: hs_factor => [|y y' same t];
  try exact: observe_kernel; rewrite /observe.
  suff -> : histogram y = histogram y' by [].
  apply/ffunP => -[]; apply: val_inj; rewrite /= -?ones_histogram ?same //.
  by rewrite !histogram_false same.
by rewrite !ones_histogram same.
Qed.

Definition bits (a : R) u := sent (coin a) (fun i => coin (u i)).

(** The target user sends a 1 with probability [a], and is added to the number of ones. *)
Definition ones_law (a : R) u (m : nat) : R :=
  a * shifted (heads_law u) m + (1 - a) * heads_law u m.

Lemma push_ones a u (m : 'I_n.+2) :
  push (observe R (@ones n.+1)) (bits a u) m = ones_law a u m.
Proof.
pose all i := if unlift ord0 i is Some k then u k else a.
have -> : ones_law a u m = heads_law all m.
  rewrite heads_law_coin /ones_law /all unlift_none.
  have eq_law k : heads_law u k = heads_law (fun i => all (lift ord0 i)) k.
    rewrite !heads_law_coef; congr ((_ : {poly R})`_k).
    by apply: eq_bigr => i _; rewrite /all liftK.
  by rewrite !eq_law; case: (nat_of_ord m) => //= k; rewrite eq_law.
rewrite push_observe /heads_law; apply: eq_big => [y|y _].
  by rewrite -val_eqE /= ones_heads.
rewrite /bits /sent /coins big_ord_recl /all unlift_none; congr (_ * _).
by apply: eq_bigr => i _; rewrite liftK.
Qed.

Variables (a b e : R) (u : 'I_n -> R).
Hypotheses (prob : probabilities u) (ab : e * b <= a).

(** The value of the event that at least [t] messages are 1. *)
Definition excess t : R :=
  (a - e * b) * shifted (heads_law u) t - (e - 1) * \sum_(t <= s < n.+1) heads_law u s.

Let f := heads_law u.

Let term s : R := (a - e * b) * shifted f s - (e * (1 - b) - (1 - a)) * f s.

Lemma hs_bits :
  hs e (push (observe R (@ones n.+1)) (bits a u)) (push (observe R (@ones n.+1)) (bits b u))
  = \sum_(s < n.+2) pos (term s).
Proof.
apply: eq_bigr => s _; rewrite !push_ones; congr pos; rewrite /ones_law /term -/f.
ring_in R.
Qed.

Lemma sum_terms t : \sum_(s < n.+2 | (t <= s)%N) term s = excess t.
Proof.
have [lt_t|le_t] := ltnP n.+1 t.
  rewrite big1 => [|s /leq_trans/(_ (leq_ord s))]; last by rewrite leqNgt lt_t.
  rewrite /excess big_geq; last exact: ltnW.
  case: t lt_t => // k lt_k /=; rewrite heads_law_beyond //; ring_in R.
have -> : \sum_(s < n.+2 | (t <= s)%N) term s = \sum_(t <= s < n.+2) term s.
  by rewrite big_geq_mkord.
rewrite /term sumrB -!mulr_sumr.
have beyond : f n.+1 = 0 by apply: heads_law_beyond.
rewrite big_nat_recl //= [X in _ - _ * X]big_nat_recr //= beyond addr0 /excess -/f.
set S := \sum_(t <= s < n.+1) f s.
ring_in R.
Qed.

Theorem two_messages_event :
  (exists t, hs e (push (observe R (@ones n.+1)) (bits a u))
                  (push (observe R (@ones n.+1)) (bits b u)) = excess t) /\
  (forall t, excess t <= hs e (push (observe R (@ones n.+1)) (bits a u))
                              (push (observe R (@ones n.+1)) (bits b u))).
Proof.
have f0 m : 0 <= f m by apply: heads_law_ge0.
rewrite hs_bits; split=> [|t].
  have rise := shifted_rising f0 (heads_law_concave prob).
  have [t eq_t] := @half_line R _ _ (a - e * b) (e * (1 - b) - (1 - a)) n.+2
    (fun m => shifted_ge0 m f0) f0 (etrans (subr_ge0 _ _) ab) rise.
  by exists t; rewrite eq_t sum_terms.
rewrite -sum_terms big_mkcond; apply: ler_sum => s _.
by case: ifP; rewrite ?pos_ge ?pos_ge0.
Qed.

End Ones.

(** Who holds which value does not matter. *)
Lemma hs_bits_renamed (R : realFieldType) n (s : 'S_n) (a b e : R) (u : 'I_n -> R) :
  let number a u := push (observe R (@ones n.+1)) (bits a u) in
  hs e (number a (fun i => u (s i))) (number b (fun i => u (s i)))
  = hs e (number a u) (number b u).
Proof.
move=> number; have same m : heads_law (fun i => u (s i)) m = heads_law u m.
  have indicator (v : 'I_n -> R) :
      heads_law v m = \sum_c coins v c * (heads c == m)%:R.
    rewrite /heads_law big_mkcond; apply: eq_bigr => c _.
    by case: eqP; rewrite ?mulr1 ?mulr0.
  by rewrite !indicator (renamed_coins s u (fun h => (h == m)%:R)).
rewrite !hs_bits; apply: eq_bigr => k _; congr pos; rewrite same.
by case: (nat_of_ord k) => //= m; rewrite same.
Qed.

(** If the target user's own message is within the budget, so is all that is seen. *)
Lemma hs_bits_zero (R : realFieldType) n (a b e : R) (u : 'I_n -> R) :
  probabilities u -> 1 <= e -> b <= a <= 1 -> a <= e * b ->
  hs e (push (observe R (@ones n.+1)) (bits a u)) (push (observe R (@ones n.+1)) (bits b u))
  = 0.
Proof.
move=> prob e1 /andP[le_ba le_a1] le_ab.
have f0 m : 0 <= heads_law u m by apply: heads_law_ge0.
rewrite hs_bits; apply: big1 => s _; apply: pos_le0; rewrite subr_le0.
apply: (@le_trans _ _ 0); first by rewrite mulr_le0_ge0 ?subr_le0 ?shifted_ge0.
apply: mulr_ge0 => //; rewrite subr_ge0.
apply: (@le_trans _ _ (1 - b)); first by rewrite ler_add2l ler_opp2.
by rewrite ler_pemull ?subr_ge0 ?(le_trans le_ba).
Qed.

Section Intervals.
Variables (R : realFieldType) (n : nat) (T : finType).
Variables (view : {ffun 'I_n.+1 -> bool} -> T -> R) (lo hi u : 'I_n -> R).
Hypothesis between : forall i, lo i <= u i <= hi i.
Add Ring R_ring : (field_ring R).

Let share i : R := if lo i == hi i then 0 else (u i - lo i) / (hi i - lo i).

Let weights i (c : bool) : R := coin (share i) c.

Let ends i (c : bool) : bool -> R := coin (if c then hi i else lo i).

Lemma share_prob i : 0 <= share i <= 1.
Proof.
case/andP: (between i) => le_lo le_hi; rewrite /share; case: eqVneq => [_|ne].
  by rewrite lexx ler01.
have lt : 0 < hi i - lo i by rewrite subr_gt0 lt_neqAle ne (le_trans le_lo).
rewrite ler_pdivr_mulr // mul1r ler_add2r le_hi andbT.
by apply: divr_ge0; [rewrite subr_ge0 | apply: ltW].
Qed.

Lemma coin_ends i v : coin (u i) v = \sum_c weights i c * ends i c v.
Proof.
have eq_u : u i = share i * hi i + (1 - share i) * lo i.
  case/andP: (between i); rewrite /share; case: eqVneq => [->|ne le_lo le_hi].
    by move=> le_lo le_hi; rewrite mul0r add0r subr0 mul1r; apply: le_anti; rewrite le_hi.
  have ne0 : hi i - lo i != 0 by rewrite subr_eq0 eq_sym.
  have {1}-> : u i = (u i - lo i) / (hi i - lo i) * (hi i - lo i) + lo i.
    by rewrite divfK // subrK.
  by set s := (_ / _); ring_in R.
rewrite big_bool /weights /ends /coin /= eq_u; case: v => //; ring_in R.
Qed.

(** Among all data within the intervals, some with ends only are the worst. *)
Theorem worst_data_at_ends e a b :
  exists u' : 'I_n -> R,
    (forall i, u' i = lo i \/ u' i = hi i) /\
    hs e (push view (bits a u)) (push view (bits b u))
      <= hs e (push view (bits a u')) (push view (bits b u')).
Proof.
have [i|c le_c] := extreme_data view (w := weights) ends _ e (coin a) (coin b).
  split=> [c|]; first exact/coin_ge0/share_prob.
  exact: coin_total.
exists (fun i => if c i then hi i else lo i); split=> [i|].
  by case: (c i); [right | left].
have mixed a' : push view (bits a' u) =1
    push view (sent (coin a') (fun i v => \sum_j weights i j * ends i j v)).
  move=> t; apply: eq_bigr => y _; congr (_ * _); congr (_ * _).
  by apply: eq_bigr => i _; apply: coin_ends.
by rewrite (eq_hs e (mixed a) (mixed b)).
Qed.

End Intervals.
