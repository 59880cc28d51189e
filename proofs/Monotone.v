(** More blanket draws never hurt: the divergence falls with their number, so that coins may
    be replaced by smaller ones, and people may be left out. *)
From mathcomp Require Import all_ssreflect all_algebra fingroup perm.
From Shuffled Require Import Divergence Marginal Shuffle Blanket.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Placed.
Variables (R : realFieldType) (Y : finType) (omega : Y -> R).
Implicit Types (p q s : Y -> R) (m : nat).

Lemma placedB e p q m (y : {ffun 'I_m.+1 -> Y}) :
  placed omega p y - e * placed omega q y = placed omega (fun v => p v - e * q v) y.
Proof.
rewrite /placed mulrCA -mulrBr mulr_sumr -sumrB; congr (_ * _).
by apply: eq_bigr => j _; rewrite mulrA -mulrBl.
Qed.

Lemma codom_lift m (k i : 'I_m.+1) : (i \notin codom (lift k)) = (i == k).
Proof.
apply/idP/eqP => [out|->]; last first.
  by apply/negP => /codomP[j] /eqP; rewrite (negPf (neq_lift _ _)).
apply: contraNeq out; rewrite eq_sym => ne.
by case: (unlift_some ne) => j -> _; apply: codom_f.
Qed.

(** Each place but one: the term of place [j] is the same in all of them. *)
Lemma sum_leave_one_out m (F : 'I_m.+2 -> R) :
  \sum_k \sum_j F (lift k j) = m.+1%:R * \sum_j F j.
Proof.
have leave k : \sum_j F (lift k j) = \sum_j F j - F k.
  by rewrite [in RHS](bigD1_ord k) //= addrC addKr.
under eq_bigr do rewrite leave.
by rewrite sumrB sumr_const card_ord mulrSr addrK mulr_natl.
Qed.

Lemma placed_leave_one_out s m (y : {ffun 'I_m.+2 -> Y}) :
  placed omega s y =
  m.+2%:R^-1 * \sum_k omega (y k) * placed omega s [ffun j => y (lift k j)].
Proof.
pose F j := s (y j) * \prod_(i | i != j) omega (y i).
have leave k : omega (y k) * placed omega s [ffun j => y (lift k j)]
               = m.+1%:R^-1 * \sum_j F (lift k j).
  rewrite /placed mulrCA mulr_sumr; congr (_ * _); apply: eq_bigr => j _.
  rewrite /F ffunE mulrCA; congr (_ * _).
  rewrite [RHS](bigD1_ord k) ?neq_lift //=; congr (_ * _).
  by apply: eq_big => [i|i _]; rewrite ?ffunE // (inj_eq (@lift_inj _ k)).
under eq_bigr do rewrite leave; rewrite -mulr_sumr sum_leave_one_out.
by rewrite mulKf // pnatr_eq0.
Qed.

(** Step 5. *)
Lemma hs_placed_step e p q m :
  distribution omega ->
  hs e (placed omega p (m := m.+1)) (placed omega q (m := m.+1))
    <= hs e (placed omega p (m := m)) (placed omega q (m := m)).
Proof.
move=> [omega0 omega1]; set s := fun v => p v - e * q v; rewrite /hs.
under eq_bigr do rewrite placedB placed_leave_one_out posZ ?invr_ge0 ?ler0n //.
under [leRHS]eq_bigr do rewrite placedB; rewrite -mulr_sumr.
rewrite ler_pdivr_mull ?ltr0n //.
apply: le_trans (ler_sum _ (fun y _ => pos_sum _ _ _)) _.
rewrite exchange_big /= mulr_natl -[m.+2 in leRHS]card_ord -sumr_const.
apply: ler_sum => k _; rewrite -(marginal (@lift_inj _ k) (mu := fun => omega)) //.
apply: ler_sum => y _; rewrite posZ // (big_pred1 k) // => i.
exact: codom_lift.
Qed.

(** (c) With [m'] instead of [m <= m'] blanket draws the divergence is no larger. *)
Theorem hs_placed_antitone e p q m m' :
  distribution omega -> (m <= m')%N ->
  hs e (placed omega p (m := m')) (placed omega q (m := m'))
    <= hs e (placed omega p (m := m)) (placed omega q (m := m)).
Proof.
move=> omega_dist /subnKC <-; elim: (m' - m)%N => [|d IH]; first by rewrite addn0.
by rewrite addnS; apply: le_trans (hs_placed_step _ _ _ _ omega_dist) IH.
Qed.

(** Step 4: the divergence as an expectation over draws from [omega]. *)
Lemma hs_placed_value e p q m :
  (forall v, omega v = 0 -> p v = 0 /\ q v = 0) -> (forall v, 0 <= omega v) ->
  let L v := (p v - e * q v) / omega v in
  hs e (placed omega p (m := m)) (placed omega q (m := m)) =
  \sum_(y : {ffun 'I_m.+1 -> Y})
     (\prod_j omega (y j)) * pos (m.+1%:R^-1 * \sum_j L (y j)).
Proof.
move=> covers omega0 L; apply: eq_bigr => y _.
rewrite placedB -posZ ?prodr_ge0 //; congr pos; rewrite /placed [RHS]mulrCA.
congr (_ * _); rewrite mulr_sumr; apply: eq_bigr => j _; rewrite [in RHS](bigD1 j) //= mulrAC; congr (_ * _).
have [/[dup] /covers[-> ->] ->|ne0] := eqVneq (omega (y j)) 0.
  by rewrite mul0r mulr0 subr0.
by rewrite mulrC divfK.
Qed.

End Placed.
