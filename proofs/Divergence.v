(** The hockey-stick divergence on finite types: what a kernel and a mixture do to it. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Definitions.
Variable R : realFieldType.

Definition pos (x : R) : R := Num.max x 0.

(** Distributions are functions into R; kernels are functions into distributions. *)
Definition distribution (T : finType) (p : T -> R) : Prop :=
  (forall x, 0 <= p x) /\ \sum_x p x = 1.

Definition kernel (S T : finType) (k : S -> T -> R) : Prop :=
  forall x, distribution (k x).

(** The law of the kernel's output for an input of law [p]. *)
Definition push (S T : finType) (k : S -> T -> R) (p : S -> R) (y : T) : R :=
  \sum_x p x * k x y.

(** [hs (exp epsilon) p q <= delta] says that [p] is at most [exp epsilon] times [q], and
    [delta] more, on every event: [hs_event] below. *)
Definition hs (T : finType) (e : R) (p q : T -> R) : R := \sum_x pos (p x - e * q x).

End Definitions.

Section PositivePart.
Variable R : realFieldType.
Implicit Types x y c : R.

Lemma pos_ge0 x : 0 <= pos x.
Proof. by rewrite le_maxr lexx orbT. Qed.

Lemma pos_ge x : x <= pos x.
Proof. by rewrite le_maxr lexx. Qed.

Lemma pos_id x : 0 <= x -> pos x = x.
Proof. exact: max_idPl. Qed.

Lemma pos_le0 x : x <= 0 -> pos x = 0.
Proof. exact: max_idPr. Qed.

Lemma pos0 : pos 0 = 0 :> R.
Proof. exact: maxxx. Qed.

Lemma posD x y : pos (x + y) <= pos x + pos y.
Proof. by rewrite le_maxl ler_add ?pos_ge ?addr_ge0 ?pos_ge0. Qed.

Lemma posZ c x : 0 <= c -> pos (c * x) = c * pos x.
Proof. by move=> c0; rewrite /pos maxr_pmulr // mulr0. Qed.

Lemma pos_sum (I : Type) (s : seq I) (P : pred I) (F : I -> R) :
  pos (\sum_(i <- s | P i) F i) <= \sum_(i <- s | P i) pos (F i).
Proof.
elim/big_rec2: _ => [|i y x _ le_yx]; first by rewrite pos0.
by apply: le_trans (posD _ _) _; rewrite ler_add2l.
Qed.

End PositivePart.

Section Divergence.
Variable R : realFieldType.
Implicit Type e : R.

Lemma eq_hs (T : finType) e (p p' q q' : T -> R) :
  p =1 p' -> q =1 q' -> hs e p q = hs e p' q'.
Proof. by move=> eq_p eq_q; apply: eq_bigr => x _; rewrite eq_p eq_q. Qed.

Lemma hs_ge0 (T : finType) e (p q : T -> R) : 0 <= hs e p q.
Proof. by apply: sumr_ge0 => x _; apply: pos_ge0. Qed.

(** The divergence bounds the excess on every event, and is the excess on one of them. *)
Lemma hs_event (T : finType) e (p q : T -> R) (A : pred T) :
  \sum_(x | A x) p x <= e * (\sum_(x | A x) q x) + hs e p q.
Proof.
rewrite -ler_subl_addl mulr_sumr -sumrB /hs [leRHS](bigID A) /= -[leLHS]addr0.
apply: ler_add; last by apply: sumr_ge0 => x _; apply: pos_ge0.
by apply: ler_sum => x _; apply: pos_ge.
Qed.

Lemma hs_attained (T : finType) e (p q : T -> R) :
  \sum_(x | 0 <= p x - e * q x) p x =
  e * (\sum_(x | 0 <= p x - e * q x) q x) + hs e p q.
Proof.
apply/eqP; rewrite addrC -subr_eq mulr_sumr -sumrB /hs; apply/eqP.
rewrite [RHS](bigID (fun x => 0 <= p x - e * q x)) /= [X in _ = _ + X]big1 ?addr0.
  by apply: eq_bigr => x ge0; rewrite pos_id.
by move=> x; rewrite -ltNge => /ltW; apply: pos_le0.
Qed.

(** (a) A kernel never raises the divergence. *)
Theorem hs_push (S T : finType) (k : S -> T -> R) e (p q : S -> R) :
  kernel k -> hs e (push k p) (push k q) <= hs e p q.
Proof.
move=> kerk; apply: (@le_trans _ _ (\sum_y \sum_x k x y * pos (p x - e * q x))).
  apply: ler_sum => y _; rewrite /push mulr_sumr -sumrB.
  apply: le_trans (pos_sum _ _ _) _; apply: ler_sum => x _.
  by rewrite mulrA -mulrBl mulrC posZ //; case: (kerk x).
rewrite exchange_big /=; apply: ler_sum => x _.
by rewrite -mulr_suml; case: (kerk x) => _ ->; rewrite mul1r.
Qed.

(** (a) Joint convexity: mixtures with the same weights are no further apart than their
    parts in the mean. *)
Theorem hs_mixture (I T : finType) (w : I -> R) e (p q : I -> T -> R) :
  (forall i, 0 <= w i) ->
  hs e (fun x => \sum_i w i * p i x) (fun x => \sum_i w i * q i x)
    <= \sum_i w i * hs e (p i) (q i).
Proof.
move=> w0; rewrite /hs; under [leRHS]eq_bigr do rewrite mulr_sumr.
rewrite exchange_big /=; apply: ler_sum => x _.
rewrite mulr_sumr -sumrB; apply: le_trans (pos_sum _ _ _) _.
by apply: ler_sum => i _; rewrite mulrCA -mulrBr posZ.
Qed.

End Divergence.
