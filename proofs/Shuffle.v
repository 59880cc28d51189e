(** Messages of one target user and n other people, and what may be seen of them. *)
From mathcomp Require Import all_ssreflect all_algebra fingroup perm.
From Shuffled Require Import Divergence Marginal.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Definitions.
Variables (R : realFieldType) (Y : finType).

(** The law of all messages: the target user, at place 0, sends by law [p], and person [i],
    at place [i + 1], by law [r i]. *)
Definition sent n (p : Y -> R) (r : 'I_n -> Y -> R) (y : {ffun 'I_n.+1 -> Y}) : R :=
  p (y ord0) * \prod_i r i (y (lift ord0 i)).

(** What is seen is an arbitrary random function of the messages that does not depend on
    who sent which of them. *)
Definition order_blind N (T : Type) (K : {ffun 'I_N -> Y} -> T -> R) : Prop :=
  forall (s : 'S_N) (y : {ffun 'I_N -> Y}) t, K [ffun i => y (s i)] t = K y t.

(** One message of law [p] at a uniformly random place among [m] draws from [omega]. *)
Definition placed (omega p : Y -> R) m (y : {ffun 'I_m.+1 -> Y}) : R :=
  m.+1%:R^-1 * \sum_j p (y j) * \prod_(i | i != j) omega (y i).

End Definitions.

Section Places.
Variables (R : realFieldType) (Y : finType) (n m : nat).
(** The people who send draws from [omega] are those at the places [f 0, ..., f m]; the
    target user is among these places, and the others send by the laws [C i]. *)
Variables (omega : Y -> R) (C : 'I_n.+1 -> Y -> R) (f : 'I_m.+1 -> 'I_n.+1).
Hypotheses (inj_f : injective f) (f0 : ord0 \in codom f).
Hypothesis C_blanket : forall k, C (f k) = omega.
Hypothesis C_total : forall i, i \notin codom f -> \sum_v C i v = 1.
Implicit Types (p q : Y -> R) (y : {ffun 'I_n.+1 -> Y}).

Let at_place p (j : 'I_n.+1) y : R := p (y j) * \prod_(i | i != j) C i (y i).

Let spread p y : R := m.+1%:R^-1 * \sum_k at_place p (f k) y.

Lemma at_place_swap p k y :
  at_place p ord0 [ffun i => y (tperm ord0 (f k) i)] = at_place p (f k) y.
Proof.
rewrite /at_place ffunE tpermL; congr (_ * _).
rewrite (reindex_inj (@perm_inj _ (tperm ord0 (f k)))) /=.
apply: eq_big => [i|i ne_i].
  by rewrite -(inj_eq (@perm_inj _ (tperm ord0 (f k)))) tpermK tpermL.
rewrite ffunE tpermK; case: tpermP ne_i => // -> _.
by have /codomP[l ->] := f0; rewrite !C_blanket.
Qed.

(** Whatever is blind to the order sees the target user's message as if its place had been
    drawn at random. *)
Lemma push_spread (T : finType) (K : {ffun 'I_n.+1 -> Y} -> T -> R) p :
  order_blind K -> push K (at_place p ord0) =1 push K (spread p).
Proof.
move=> blind t; rewrite /push /spread.
have same k : \sum_y at_place p (f k) y * K y t = \sum_y at_place p ord0 y * K y t.
  pose h (y : {ffun 'I_n.+1 -> Y}) := [ffun i => y (tperm ord0 (f k) i)].
  have inj_h : injective h.
    move=> y y' /ffunP eq_h; apply/ffunP => i.
    by have := eq_h (tperm ord0 (f k) i); rewrite !ffunE tpermK.
  rewrite [RHS](reindex_inj inj_h); apply: eq_bigr => y _.
  by rewrite at_place_swap blind.
under [RHS]eq_bigr do rewrite -mulrA mulr_suml.
rewrite -mulr_sumr exchange_big /=; under [in RHS]eq_bigr do rewrite same.
by rewrite sumr_const card_ord -[X in _ = _ * X]mulr_natl mulKf // pnatr_eq0.
Qed.

(** Given who sends blanket messages, the others' messages are independent of everything. *)
Lemma spread_placed p y :
  spread p y = (\prod_(i | i \notin codom f) C i (y i))
               * placed omega p [ffun k => y (f k)].
Proof.
rewrite /spread /placed [RHS]mulrCA; congr (_ * _).
rewrite mulr_sumr; apply: eq_bigr => k _; rewrite ffunE [RHS]mulrCA; congr (_ * _).
rewrite (bigID (mem (codom f))) [RHS]mulrC; congr (_ * _).
  under eq_bigl do rewrite andbC; rewrite big_codom //.
  apply: eq_big => [l|l _]; first by rewrite inj_eq.
  by rewrite ffunE C_blanket.
apply: eq_bigl => i; apply/andP/idP => [[]//|out]; split=> //.
by apply: contraNneq out => ->; apply: codom_f.
Qed.

Lemma hs_spread e p q :
  (forall i v, i \notin codom f -> 0 <= C i v) ->
  hs e (spread p) (spread q) = hs e (placed omega p (m := m)) (placed omega q (m := m)).
Proof.
move=> C0; rewrite /hs -[RHS](marginal inj_f _ C_total); apply: eq_bigr => y _.
rewrite !spread_placed (mulrCA e) -mulrBr posZ //.
by apply: prodr_ge0 => i; apply: C0.
Qed.

(** Steps 2 and 3 of the theorem: the target user's message gets lost among blanket
    messages, whatever all others send. *)
Lemma hs_at_place (T : finType) (K : {ffun 'I_n.+1 -> Y} -> T -> R) e p q :
  kernel K -> order_blind K -> (forall i v, i \notin codom f -> 0 <= C i v) ->
  hs e (push K (at_place p ord0)) (push K (at_place q ord0))
    <= hs e (placed omega p (m := m)) (placed omega q (m := m)).
Proof.
move=> kerK blind C0; rewrite -hs_spread //.
rewrite (eq_hs e (push_spread p blind) (push_spread q blind)); exact: hs_push.
Qed.

End Places.
