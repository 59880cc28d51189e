(** A message that moves from one bucket to another, among buckets that are independent. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Shuffled Require Import Divergence Marginal Concave.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Common.
Variables (R : realFieldType) (T I J : finType) (f : J -> I).
Variables (mu nu : I -> T -> R).
Hypothesis inj_f : injective f.
Hypothesis same : forall i, i \notin codom f -> mu i =1 nu i.
Hypothesis mu_dist : forall i, i \notin codom f -> distribution (mu i).

Definition independent (K : finType) (lambda : K -> T -> R) (y : {ffun K -> T}) : R :=
  \prod_i lambda i (y i).

Let inside (lambda : I -> T -> R) : {ffun J -> T} -> R :=
  independent (fun j => lambda (f j)).

Lemma independent_split (lambda : I -> T -> R) y :
  (forall i, i \notin codom f -> lambda i =1 mu i) ->
  independent lambda y =
  (\prod_(i | i \notin codom f) mu i (y i)) * inside lambda [ffun j => y (f j)].
Proof.
move=> eq_lambda.
rewrite /independent (bigID (mem (codom f))) mulrC; congr (_ * _); last first.
  by apply: eq_big => [//|i out]; apply: eq_lambda.
under eq_bigl do rewrite andbC; rewrite big_codom //.
by rewrite /inside /independent; apply: eq_bigr => j _; rewrite ffunE.
Qed.

(** Coordinates with the same law in both worlds do not matter. *)
Theorem hs_common e : hs e (independent mu) (independent nu) = hs e (inside mu) (inside nu).
Proof.
rewrite /hs -[RHS](marginal inj_f (mu := mu)); last by move=> i /mu_dist[].
apply: eq_bigr => y _; rewrite !independent_split // => [|i out v].
  rewrite (mulrCA e) -mulrBr posZ //; apply: prodr_ge0 => i out.
  by case: (mu_dist out).
by rewrite same.
Qed.

End Common.

Section Moved.
Variables (R : realFieldType) (T I : finType) (p q : I -> T -> R).

(** The counts of all buckets, with a message more in bucket [at]. *)
Definition message_at (x : I) : {ffun I -> T} -> R :=
  independent (fun i => if i == x then p i else q i).

Lemma sum_bool_ffun (F : T -> T -> R) :
  \sum_(z : {ffun bool -> T}) F (z false) (z true) = \sum_(y : T * T) F y.1 y.2.
Proof.
rewrite (reindex (fun y : T * T => [ffun b : bool => if b then y.2 else y.1])).
  by apply: eq_bigr => y _; rewrite !ffunE.
exists (fun z : {ffun bool -> T} => (z false, z true)) => [[k l] _|z _].
  by rewrite !ffunE.
by apply/ffunP => -[]; rewrite ffunE.
Qed.

Theorem hs_moved e x x' :
  x != x' -> (forall i, distribution (q i)) ->
  hs e (message_at x) (message_at x') =
  hs e (fun y : T * T => p x y.1 * q x' y.2) (fun y => q x y.1 * p x' y.2).
Proof.
move=> ne q_dist; pose f (b : bool) := if b then x' else x.
have inj_f : injective f
  by move=> [] [] //= eq; move: ne; rewrite /f in eq; rewrite eq eqxx.
have out i : i \notin codom f -> (i == x = false) * (i == x' = false).
  move=> out; split; apply: contraNF out => /eqP->.
    by apply/codomP; exists false.
  by apply/codomP; exists true.
rewrite /message_at (@hs_common _ _ _ _ f) // => [|i /out[-> ->] //|i /out[-> _] //].
rewrite /hs -(sum_bool_ffun (fun k l => pos (p x k * q x' l - e * (q x k * p x' l)))).
apply: eq_bigr => z _; rewrite /independent !big_bool /= !eqxx.
by rewrite (negPf ne) eq_sym (negPf ne) mulrC [X in e * X]mulrC.
Qed.

End Moved.

(** What is independent of the target user, and added on top: other people's answers, and
    the noise of more people. *)
Section OnTop.
Variables (R : realFieldType) (T U V : finType) (add : T -> U -> V) (a : U -> R).

Definition added (p : T -> R) (v : V) : R :=
  \sum_x \sum_u p x * a u * (add x u == v)%:R.

Theorem hs_added e (p q : T -> R) : distribution a -> hs e (added p) (added q) <= hs e p q.
Proof.
move=> [a0 a1]; pose k x v : R := \sum_u a u * (add x u == v)%:R.
have through r : added r =1 push k r.
  move=> v; apply: eq_bigr => x _; rewrite mulr_sumr.
  by apply: eq_bigr => u _; rewrite mulrA.
rewrite (eq_hs e (through p) (through q)); apply: hs_push => x; split=> [v|].
  by apply: sumr_ge0 => u _; rewrite mulr_ge0 ?ler0n.
rewrite exchange_big -[RHS]a1 /=; apply: eq_bigr => u _; rewrite -mulr_sumr.
rewrite (bigD1 (add x u)) //= eqxx big1 ?addr0 ?mulr1 // => v.
by rewrite eq_sym => /negPf ->.
Qed.

End OnTop.

Section HalfLines.
Variable R : realFieldType.

(** For every count of the other bucket, the best event is a half line. *)
Theorem half_lines (p q : nat -> R) (a b e : R) N :
  (forall i, 0 <= p i) -> (forall i, 0 <= q i) -> 0 <= a -> rising p q ->
  exists t, \sum_(k < N) pos (p k * a - e * (q k * b))
            = \sum_(k < N | (t <= k)%N) (p k * a - e * (q k * b)).
Proof.
move=> p0 q0 a0 rise; have [t eq_t] := half_line (e * b) N p0 q0 a0 rise.
have flip k : p k * a - e * (q k * b) = a * p k - e * b * q k.
  by rewrite mulrC (mulrC (q k)) mulrA.
exists t; under eq_bigr do rewrite flip; rewrite eq_t.
by apply: eq_bigr => k _; rewrite flip.
Qed.

End HalfLines.
