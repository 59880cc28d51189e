(** Sequences whose ratios fall, and events that are half lines. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Shuffled Require Import Divergence Algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Concave.
Variable R : realFieldType.
Add Ring R_ring : (field_ring R).
Implicit Types f p q : nat -> R.

(** The ratio of a term to the one before never rises. *)
Definition log_concave f : Prop := forall i j, (i <= j)%N -> f i * f j.+1 <= f i.+1 * f j.

(** The ratio of [p] to [q] never falls. *)
Definition rising p q : Prop := forall i j, (i <= j)%N -> p i * q j <= p j * q i.

(** One step to the right: with a message more. *)
Definition shifted f (m : nat) : R := if m is k.+1 then f k else 0.

Lemma shifted_ge0 f m : (forall i, 0 <= f i) -> 0 <= shifted f m.
Proof. by case: m => /=. Qed.

(** A message more makes the ratio rise, *)
Lemma shifted_rising f : (forall i, 0 <= f i) -> log_concave f -> rising (shifted f) f.
Proof.
move=> f0 concave [|i] [|j] le //=; rewrite ?mul0r ?mulr_ge0 //.
by rewrite [leRHS]mulrC concave.
Qed.

(** and a coin more keeps the sequence concave. *)
Lemma log_concave_coin f x y :
  (forall i, 0 <= f i) -> 0 <= x -> 0 <= y -> log_concave f ->
  log_concave (fun m => x * shifted f m + y * f m).
Proof.
move=> f0 x0 y0 concave i j le_ij.
have outer (a b c d : R) :
    (x * a + y * b) * (x * c + y * d)
    = x * x * (a * c) + x * y * (b * c + a * d) + y * y * (b * d) by ring_in R.
rewrite /= !outer ler_add ?ler_wpmul2l ?mulr_ge0 ?concave // ler_add //.
  rewrite ler_wpmul2l ?mulr_ge0 //; have := shifted_rising f0 concave le_ij.
  by rewrite [leRHS]mulrC.
rewrite ler_wpmul2l ?mulr_ge0 // [leRHS]addrC ler_add //.
case: i j le_ij => [|i] [|j] //= le_ij; rewrite ?mul0r ?mulr_ge0 //.
move: le_ij; rewrite ltnS leq_eqVlt => /orP[/eqP->|lt_ij]; first by rewrite mulrC.
apply: (@le_trans _ _ (f i.+1 * f j.+1)); first by rewrite concave // ltnW // ltnW.
exact: concave.
Qed.

(** Where the ratio of [p] to [q] rises, the best event is a half line. *)
Lemma half_line p q (u v : R) N :
  (forall i, 0 <= p i) -> (forall i, 0 <= q i) -> 0 <= u -> rising p q ->
  exists t, \sum_(k < N) pos (u * p k - v * q k)
            = \sum_(k < N | (t <= k)%N) (u * p k - v * q k).
Proof.
move=> p0 q0 u0 rise; pose gain k := 0 < u * p k - v * q k.
exists (find gain (iota 0 N)); rewrite [RHS]big_mkcond; apply: eq_bigr => k _ /=.
case: leqP => [le_k|lt_k]; last first.
  apply: pos_le0; rewrite leNgt; have := before_find 0%N lt_k.
  by rewrite nth_iota ?add0n // => /negbT.
set t := find _ _ in le_k; have has_gain : has gain (iota 0 N).
  by rewrite has_find size_iota (leq_ltn_trans le_k).
have := nth_find 0%N has_gain; rewrite -/t nth_iota ?(leq_ltn_trans le_k) //.
rewrite add0n /gain subr_gt0 => gain_t; apply: pos_id; rewrite subr_ge0.
have [v0|v0] := lerP v 0.
  by apply: (@le_trans _ _ 0); rewrite ?mulr_ge0 // mulr_le0_ge0.
have up : 0 < u * p t by apply: le_lt_trans gain_t; rewrite mulr_ge0 // ltW.
rewrite -(ler_pmul2l up); apply: (@le_trans _ _ (u * p k * (v * q t))).
  have -> : u * p t * (v * q k) = u * v * (p t * q k) by ring_in R.
  have -> : u * p k * (v * q t) = u * v * (p k * q t) by ring_in R.
  by rewrite ler_wpmul2l ?rise // mulr_ge0 // ltW.
by rewrite [leRHS]mulrC ler_wpmul2l ?mulr_ge0 // ltW.
Qed.

End Concave.
