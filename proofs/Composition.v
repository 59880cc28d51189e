(** Several protocols with the same people: pairs that dominate, and what grids do to
    them. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Shuffled Require Import Divergence Algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Definitions.
Variable R : realFieldType.

(** The pair [a], [b] is at least as far apart as [p], [q], for every epsilon. *)
Definition dominated (S T : finType) (p q : S -> R) (a b : T -> R) : Prop :=
  forall e, 0 <= e -> hs e p q <= hs e a b.

(** A first outcome of law [p], then one whose law depends on the first. *)
Definition joint (S T : finType) (p : S -> R) (k : S -> T -> R) (y : S * T) : R :=
  p y.1 * k y.1 y.2.

(** All that is seen of the first [n] protocols: the outcomes of each, of a type of its
    own. *)
Fixpoint transcript (T : nat -> finType) n : finType :=
  if n is m.+1 then prod_finType (transcript T m) (T m) else unit_finType.

(** Its law, if protocol [i] follows the law [k i h] after the outcomes [h]. *)
Fixpoint transcript_law (T : nat -> finType) (k : forall i, transcript T i -> T i -> R) n :
    transcript T n -> R :=
  if n is m.+1 then joint (transcript_law k (n := m)) (k m) else fun => 1.

(** The law of independent outcomes. *)
Definition product_law (T : nat -> finType) (p : forall i, T i -> R) n :=
  transcript_law (fun i (_ : transcript T i) => p i) (n := n).

(** Outcome [x], of probabilities [p x] and [q x], becomes two of the ratios [lo x] and
    [hi x], so that totals stay. *)
Definition split_q (T : finType) (lo hi p q : T -> R) (y : T * bool) : R :=
  let x := y.1 in
  (if y.2 then p x - lo x * q x else hi x * q x - p x) / (hi x - lo x).

Definition split_p (T : finType) (lo hi p q : T -> R) (y : T * bool) : R :=
  (if y.2 then hi y.1 else lo y.1) * split_q lo hi p q y.

(** Outcomes with the same image under [g] become one. *)
Definition merged (S T : finType) (g : S -> T) (p : S -> R) (t : T) : R :=
  \sum_(x | g x == t) p x.

End Definitions.

Section Domination.
Variable R : realFieldType.
Implicit Type e : R.

Lemma dominated_refl (S : finType) (p q : S -> R) : dominated p q p q.
Proof. by []. Qed.

(** The other direction needs no care: totals are 1. *)
Lemma hs_reverse (S : finType) e (p q : S -> R) :
  0 < e -> \sum_x p x = 1 -> \sum_x q x = 1 -> hs e q p = 1 - e + e * hs e^-1 p q.
Proof.
move=> e0 p1 q1; have e_ne0 := gt_eqF e0.
have split (x y : R) : pos (x - y) = x - y + pos (y - x).
  case: (lerP x y) => le.
    by rewrite pos_le0 ?pos_id ?subr_ge0 ?subr_le0 ?subrKA ?subrr.
  by rewrite [pos (y - x)]pos_le0 ?pos_id ?subr_ge0 ?subr_le0 ?addr0 // ltW.
rewrite /hs; under eq_bigr do rewrite split.
rewrite big_split /= sumrB -mulr_sumr p1 q1 mulr1 mulr_sumr; congr (_ + _).
by apply: eq_bigr => x _; rewrite -posZ ?ltW // mulrBr mulrA mulfV ?mul1r ?e_ne0.
Qed.

Lemma dominated_reverse (S T : finType) (p q : S -> R) (a b : T -> R) :
  distribution p -> distribution q -> distribution a -> distribution b ->
  dominated p q a b -> dominated q p b a.
Proof.
move=> [_ p1] [q0 q1] [_ a1] [b0 b1] dom e; rewrite le0r => /orP[/eqP->|e0].
  have at0 (U : finType) (r s : U -> R) : (forall x, 0 <= r x) -> hs 0 r s = \sum_x r x.
    by move=> r0; apply: eq_bigr => x _; rewrite mul0r subr0 pos_id.
  by rewrite !at0 // q1 b1.
rewrite (hs_reverse e0 p1 q1) (hs_reverse e0 a1 b1) ler_add2l ler_pmul2l //.
by apply: dom; rewrite invr_ge0 ltW.
Qed.

(** Domination in a form that has no quotients. *)
Lemma dominated_weighted (S T : finType) (p q : S -> R) (a b : T -> R) (u v : R) :
  (forall x, 0 <= q x) -> dominated p q a b -> 0 <= u -> 0 <= v ->
  \sum_x pos (u * p x - v * q x) <= \sum_y pos (u * a y - v * b y).
Proof.
move=> q0 dom u0 v0; have [->|ne0] := eqVneq u 0.
  rewrite big1 => [|x _]; first by apply: sumr_ge0 => y _; apply: pos_ge0.
  by rewrite mul0r sub0r pos_le0 // oppr_le0 mulr_ge0.
have scale (U : finType) (r s : U -> R) :
    \sum_x pos (u * r x - v * s x) = u * hs (v / u) r s.
  rewrite mulr_sumr; apply: eq_bigr => x _.
  by rewrite -posZ // mulrBr mulrA (mulrC u (v / u)) divfK.
by rewrite !scale ler_wpmul2l //; apply: dom; apply: divr_ge0.
Qed.

(** Second messages may depend on the first: what dominates them after every first one
    does so beside it. *)
Theorem dominated_joint (S T S' T' : finType) (p q : S -> R) (k l : S -> T -> R)
    (a b : S' -> R) (c d : T' -> R) :
  (forall y, 0 <= p y) -> (forall y, 0 <= q y) -> (forall y x, 0 <= l y x) ->
  (forall x, 0 <= c x) -> (forall x, 0 <= d x) ->
  dominated p q a b -> (forall y, dominated (k y) (l y) c d) ->
  dominated (joint p k) (joint q l) (joint a (fun => c)) (joint b (fun => d)).
Proof.
move=> p0 q0 l0 c0 d0 dom_first dom_second e e0; rewrite /hs /joint.
rewrite -(pair_bigA _ (fun y x => pos (p y * k y x - e * (q y * l y x)))) /=.
rewrite -(pair_bigA _ (fun y x => pos (a y * c x - e * (b y * d x)))) /=.
have second y : \sum_x pos (p y * k y x - e * (q y * l y x)) <=
                \sum_x pos (p y * c x - e * (q y * d x)).
  under eq_bigr do rewrite mulrA; under [leRHS]eq_bigr do rewrite mulrA.
  by apply: dominated_weighted => //; rewrite mulr_ge0.
apply: le_trans (ler_sum _ (fun y _ => second y)) _.
rewrite exchange_big [leRHS]exchange_big /=; apply: ler_sum => x _.
have flip (r s : R) : r * c x - e * (s * d x) = c x * r - e * d x * s.
  by rewrite mulrC (mulrC s) mulrA.
under eq_bigr do rewrite flip; under [leRHS]eq_bigr do rewrite flip.
by apply: dominated_weighted => //; rewrite mulr_ge0.
Qed.

(** Composition of [n] protocols, each of which may depend on all that was seen before. *)
Theorem dominated_transcript (T U : nat -> finType)
    (k l : forall i, transcript T i -> T i -> R) (a b : forall i, U i -> R) n :
  (forall i, kernel (k i)) -> (forall i, kernel (l i)) ->
  (forall i, distribution (a i)) -> (forall i, distribution (b i)) ->
  (forall i h, dominated (k i h) (l i h) (a i) (b i)) ->
  dominated (transcript_law k (n := n)) (transcript_law l (n := n))
            (product_law a (n := n)) (product_law b (n := n)).
Proof.
move=> kerk kerl dist_a dist_b dom.
have law_ge0 (W : nat -> finType) (r : forall i, transcript W i -> W i -> R) m :
    (forall i, kernel (r i)) -> forall h, 0 <= transcript_law r (n := m) h.
  move=> ker; elim: m => [|m IH] h; first exact: ler01.
  by rewrite /= mulr_ge0 ?IH //; case: (ker m h.1).
elim: n => [|n IH]; first by move=> e _.
apply: dominated_joint => //; try exact: law_ge0.
- by move=> y x; case: (kerl n y).
- by case: (dist_a n).
- by case: (dist_b n).
Qed.

End Domination.

Section Grid.
Variables (R : realFieldType) (S T : finType).
Add Ring R_ring : (field_ring R).

(** Merging is post-processing, *)
Lemma merged_dominated (g : S -> T) (p q : S -> R) :
  dominated (merged g p) (merged g q) p q.
Proof.
move=> e _; rewrite [leRHS](partition_big g predT) //=; apply: ler_sum => t _.
by rewrite mulr_sumr -sumrB; apply: pos_sum.
Qed.

(** and loses nothing if merged outcomes have the same ratio [c] to [d]. *)
Lemma merge_same_ratio e (g : S -> T) (c d : T -> R) (w p q : S -> R) :
  (forall x, 0 <= w x) -> (forall x, p x = c (g x) * w x) ->
  (forall x, q x = d (g x) * w x) -> hs e (merged g p) (merged g q) = hs e p q.
Proof.
move=> w0 eq_p eq_q; rewrite [RHS](partition_big g predT) //=; apply: eq_bigr => t _.
have -> : merged g p t - e * merged g q t = (\sum_(x | g x == t) w x) * (c t - e * d t).
  rewrite mulr_sumr -sumrB mulr_suml; apply: eq_bigr => x /eqP <-.
  by rewrite eq_p eq_q mulrA -mulrBl mulrC.
rewrite posZ ?sumr_ge0 // mulr_suml; apply: eq_bigr => x /eqP <-.
by rewrite eq_p eq_q mulrA -mulrBl [in RHS]mulrC posZ.
Qed.

Variables (lo hi p q : S -> R).
Hypothesis grid : forall x, lo x < hi x.
Hypothesis between : forall x, lo x * q x <= p x <= hi x * q x.

Lemma split_q_total x :
  split_q lo hi p q (x, true) + split_q lo hi p q (x, false) = q x.
Proof.
have ne0 : hi x - lo x != 0 by rewrite gt_eqF ?subr_gt0.
apply: (mulIf ne0); rewrite /split_q /= [LHS]mulrDl !(divfK ne0); ring_in R.
Qed.

Lemma split_p_total x :
  split_p lo hi p q (x, true) + split_p lo hi p q (x, false) = p x.
Proof.
have ne0 : hi x - lo x != 0 by rewrite gt_eqF ?subr_gt0.
apply: (mulIf ne0); rewrite /split_p /split_q /= [LHS]mulrDl -!mulrA mulVf // !mulr1.
ring_in R.
Qed.

Lemma split_q_ge0 y : 0 <= split_q lo hi p q y.
Proof.
case/andP: (between y.1) => le_lo le_hi; rewrite /split_q divr_ge0 //.
  by case: ifP; rewrite subr_ge0.
by rewrite subr_ge0 ltW.
Qed.

(** A pessimistic step of a grid: the parts of an outcome are further apart. *)
Lemma split_dominates : dominated p q (split_p lo hi p q) (split_q lo hi p q).
Proof.
move=> e _; rewrite /hs -(pair_bigA _ (fun x b =>
  pos (split_p lo hi p q (x, b) - e * split_q lo hi p q (x, b)))) /=.
apply: ler_sum => x _; rewrite big_bool /=.
rewrite -[in leLHS]split_p_total -[in leLHS]split_q_total.
by rewrite mulrDr opprD addrACA posD.
Qed.

End Grid.

(** Masses that were rounded upward. *)
Section Rounding.
Variables (R : realFieldType) (S T : finType).
Add Ring R_ring : (field_ring R).
Implicit Type e : R.

Lemma rounded_dominates (c p q : S -> R) :
  (forall x, 1 <= c x) -> dominated p q (fun x => c x * p x) (fun x => c x * q x).
Proof.
move=> c1 e _; apply: ler_sum => x _.
by rewrite mulrCA -mulrBr posZ ?(le_trans ler01) // ler_pemull ?pos_ge0.
Qed.

Lemma hs_antitone (p q : S -> R) e e' :
  (forall x, 0 <= q x) -> e <= e' -> hs e' p q <= hs e p q.
Proof.
move=> q0 le; apply: ler_sum => x _; rewrite /pos le_maxl !le_maxr lexx orbT andbT.
by rewrite ler_add2l ler_opp2 ler_wpmul2r.
Qed.

(** What exceeds 1 may be taken from the outcomes of ratios up to [l]. *)
Theorem trimmed_dominates (p q : S -> R) (a b a' b' : T -> R) l :
  distribution p -> distribution q -> 0 < l ->
  (forall x, 0 <= b x) -> (forall x, 0 <= b' x) -> \sum_x a' x = 1 ->
  (forall x, l * b' x <= a' x) ->
  (forall x, (a' x = a x /\ b' x = b x) \/ (a x <= l * b x /\ a' x = l * b' x)) ->
  dominated p q a b -> dominated p q a' b'.
Proof.
move=> [p0 p1] [q0 q1] l0 b0 b'0 a'1 above kept dom.
have large e : l <= e -> hs e p q <= hs e a' b'.
  move=> le; apply: le_trans (dom _ (le_trans (ltW l0) le)) _; apply: ler_sum => x _.
  case: (kept x) => [[-> ->] //|[le_a _]]; rewrite [leLHS]pos_le0 ?pos_ge0 // subr_le0.
  by apply: le_trans le_a _; rewrite ler_wpmul2r.
have small e : e <= l -> hs e a' b' = 1 - e * \sum_x b' x.
  move=> le; rewrite -a'1 mulr_sumr -sumrB; apply: eq_bigr => x _.
  by rewrite pos_id // subr_ge0; apply: le_trans (above x); rewrite ler_wpmul2r.
move=> e e0; have [le|lt] := lerP l e; first exact: large.
have reverse u : 0 < u ->
    (hs u p q <= 1 - u * \sum_x b' x) = (hs u^-1 q p <= 1 - \sum_x b' x).
  move=> u0; rewrite (hs_reverse u0 q1 p1) -subr_ge0.
  set h := hs _ _ _; set m := \sum_x b' x.
  have -> : 1 - u * m - (1 - u + u * h) = u * (1 - m - h) by ring_in R.
  by rewrite pmulr_rge0 // subr_ge0.
rewrite (small e (ltW lt)); move: e0; rewrite le0r => /orP[/eqP->|e0].
  rewrite mul0r subr0 -p1 /hs; apply: ler_sum => x _.
  by rewrite mul0r subr0 pos_id.
have := large l (lexx l); rewrite small // !reverse //; apply: le_trans.
by apply: hs_antitone => //; rewrite lef_pinv ?posrE // ltW.
Qed.

End Rounding.

(** What is known of a part of all outcomes only. *)
Section Parts.
Variables (R : realFieldType) (T : finType) (p q p' q' : T -> R) (e : R).
Hypotheses (e0 : 0 <= e) (le_p : forall x, p' x <= p x) (le_q : forall x, q' x <= q x).

Lemma hs_le_part : \sum_x p x <= 1 ->
  hs e p q <= 1 - \sum_x Num.min (p' x) (e * q' x).
Proof.
move=> p1; apply: le_trans (ler_sub p1 (lexx _)); rewrite -sumrB; apply: ler_sum => x _.
rewrite /pos le_maxl ler_add2l ler_opp2 subr_ge0.
by rewrite !le_minl le_p ler_wpmul2l ?orbT.
Qed.

Lemma hs_ge_part : \sum_x q x <= 1 ->
  \sum_x pos (p' x - e * q' x) - e * (1 - \sum_x q' x) <= hs e p q.
Proof.
move=> q1; rewrite ler_subl_addr.
apply: (@le_trans _ _ (\sum_x (pos (p x - e * q x) + e * (q x - q' x)))).
  apply: ler_sum => x _; rewrite -[X in _ <= _ + X]pos_id; last first.
    by rewrite mulr_ge0 ?subr_ge0.
  apply: le_trans (posD _ _); rewrite mulrBr addrA subrK.
  by rewrite /pos le_maxl !le_maxr lexx orbT andbT ler_sub.
by rewrite big_split /= ler_add2l -mulr_sumr ler_wpmul2l // sumrB ler_sub.
Qed.

End Parts.
