(** Nothing that is blind to the order shows more than how often each message was sent. *)
From mathcomp Require Import all_ssreflect all_algebra fingroup perm.
From Shuffled Require Import Divergence Shuffle Orders.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Factor.
Variable R : realFieldType.

(** Post-processing that may lose outcomes. *)
Lemma hs_push_part (S T : finType) (k : S -> T -> R) e (p q : S -> R) :
  (forall x y, 0 <= k x y) -> (forall x, \sum_y k x y <= 1) ->
  hs e (push k p) (push k q) <= hs e p q.
Proof.
move=> k0 k1; apply: (@le_trans _ _ (\sum_y \sum_x pos (p x - e * q x) * k x y)).
  apply: ler_sum => y _; rewrite /push mulr_sumr -sumrB.
  apply: le_trans (pos_sum _ _ _) _; apply: ler_sum => x _.
  by rewrite mulrA -mulrBl mulrC posZ // mulrC.
rewrite exchange_big /=; apply: ler_sum => x _.
by rewrite -mulr_sumr ler_pimulr ?pos_ge0.
Qed.

Variables (Y : finType) (N : nat).
Implicit Types (y : {ffun 'I_N -> Y}) (mu nu : {ffun 'I_N -> Y} -> R).

Lemma push_observe (T : finType) (g : {ffun 'I_N -> Y} -> T) mu t :
  push (observe R g) mu t = \sum_(y | g y == t) mu y.
Proof.
rewrite /push [RHS]big_mkcond; apply: eq_bigr => y _; rewrite /observe.
by case: eqP; rewrite ?mulr1 ?mulr0.
Qed.

(** What depends on [g y] alone shows no more than [g y]. *)
Lemma hs_factor (T U : finType) (g : {ffun 'I_N -> Y} -> T)
    (view : {ffun 'I_N -> Y} -> U -> R) e mu nu :
  kernel view -> (forall y y', g y = g y' -> view y =1 view y') ->
  hs e (push view mu) (push view nu)
    <= hs e (push (observe R g) mu) (push (observe R g) nu).
Proof.
move=> ker same; pose k t u := if [pick y | g y == t] is Some y then view y u else 0.
have through lambda : push view lambda =1 push k (push (observe R g) lambda).
  move=> u; rewrite /push; under [RHS]eq_bigr do rewrite mulr_suml.
  rewrite exchange_big /=; apply: eq_bigr => y _.
  rewrite (bigD1 (g y)) //= big1 => [|t]; last first.
    by rewrite /observe eq_sym => /negPf ->; rewrite mulr0 mul0r.
  rewrite addr0 /observe eqxx mulr1 /k; case: pickP => [y' /eqP eq_g|/(_ y)].
    by rewrite (same _ _ eq_g).
  by rewrite eqxx.
rewrite (eq_hs e (through mu) (through nu)); apply: hs_push_part => t.
  by move=> u; rewrite /k; case: pickP => // y _; case: (ker y).
by rewrite /k; case: pickP => [y _|_]; [case: (ker y) => _ -> | rewrite big1 ?ler01].
Qed.

Lemma count_codom y v : count_mem v (codom y) = #|[pred i | y i == v]|.
Proof. by rewrite codomE count_map -size_filter cardE enumT. Qed.

Lemma histogram_count y v : histogram y v = #|[pred i | y i == v]| :> nat.
Proof. by rewrite ffunE inordK // ltnS -[X in (_ <= X)%N]card_ord max_card. Qed.

(** Messages with the same histogram differ in their order only. *)
Lemma same_histogram y y' : histogram y = histogram y' -> exists s, y = permuted s y'.
Proof.
move=> same; have eq_perm : perm_eq (codom y) [tuple y' i | i < N].
  have -> : tval [tuple y' i | i < N] = codom y' by rewrite codomE.
  apply/allP => v _ /=; rewrite !count_codom.
  by rewrite -!histogram_count same.
have /tuple_permP[s eq_s] := eq_perm; exists s; apply/ffunP => i; rewrite ffunE.
have : nth (y i) (codom y) i = nth (y i) [tuple tnth [tuple y' i | i < N] (s i) | i < N] i.
  by rewrite eq_s.
by rewrite -tnth_nth !tnth_mktuple codomE (nth_map i) ?size_enum_ord ?nth_ord_enum.
Qed.

Theorem blind_le_histogram (T : finType) (view : {ffun 'I_N -> Y} -> T -> R) e mu nu :
  kernel view -> order_blind view ->
  hs e (push view mu) (push view nu)
    <= hs e (push (observe R (@histogram Y N)) mu) (push (observe R (@histogram Y N)) nu).
Proof.
move=> ker blind; apply: hs_factor => // y y' /same_histogram[s ->] t; exact: blind.
Qed.

(** A random order shows all of that. *)
Theorem hs_random_order e mu nu :
  hs e (push (@random_order R Y N) mu) (push (@random_order R Y N) nu)
    = hs e (push (observe R (@histogram Y N)) mu) (push (observe R (@histogram Y N)) nu).
Proof.
apply: le_anti; rewrite blind_le_histogram; last first.
- exact: random_order_blind.
- exact: random_order_kernel.
have recount lambda : push (observe R (@histogram Y N)) lambda =1
    push (observe R (@histogram Y N)) (push (@random_order R Y N) lambda).
  move=> h; rewrite /push; under [RHS]eq_bigr do rewrite mulr_suml.
  rewrite exchange_big /=; apply: eq_bigr => y _.
  have [_ total] := @random_order_kernel R Y N y.
  under eq_bigr do rewrite -mulrA; rewrite -mulr_sumr; congr (_ * _).
  rewrite -[LHS]mul1r -{1}total mulr_suml; apply: eq_bigr => y' _.
  have [same|ne] := eqVneq (histogram y') (histogram y).
    by rewrite /observe same.
  rewrite /random_order big1 ?mulr0 ?mul0r // => s _.
  case: (eqVneq (permuted s y) y') => // eq_y; case/eqP: ne.
  by rewrite -eq_y histogram_permuted.
rewrite (eq_hs e (recount mu) (recount nu)); apply: hs_push; exact: observe_kernel.
Qed.

End Factor.
