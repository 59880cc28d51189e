(** Counts among messages of noise: the law of a bucket, and one message more in it. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Shuffled Require Import Divergence Algebra Composition Concave.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.Theory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Geometric.
Variables (R : realFieldType) (p : R) (zeta : nat -> R).
Add Ring R_ring : (field_ring R).
Implicit Types x y u m k : nat.

(** The number of messages of one sign: A has the geometric law with ratio [p]. *)
Definition geometric (a : nat) : R := (1 - p) * p ^+ a.

(** x = A + Z messages "+" and y = B + Z messages "-", for independent A, B, and Z of law
    [zeta]: the sum over the number z of pairs. *)
Definition bucket x y : R :=
  \sum_(z < (minn x y).+1) geometric (x - z) * geometric (y - z) * zeta z.

(** A message "+" more. *)
Definition bucket_more x y : R := shifted (bucket^~ y) x.

(** g of the paper: what all pairs up to [u] contribute. *)
Fixpoint flood u : R := if u is v.+1 then p ^+ 2 * flood v + zeta v.+1 else zeta 0%N.

Lemma flood_sum u : flood u = \sum_(z < u.+1) p ^+ (2 * (u - z)) * zeta z.
Proof.
elim: u => [|u IH]; first by rewrite big_ord1 mul1r.
rewrite big_ord_recr /= subnn expr0 mul1r IH mulr_sumr; congr (_ + _).
apply: eq_bigr => z _; rewrite mulrA -exprD subSn; last by rewrite -ltnS.
by rewrite mulnS.
Qed.

Theorem bucket_closed_form x y :
  let u := minn x y in bucket x y = (1 - p) ^+ 2 * p ^+ (x + y - 2 * u) * flood u.
Proof.
move=> u; rewrite flood_sum mulr_sumr; apply: eq_bigr => z _.
have le_zu : (z <= u)%N by rewrite -ltnS.
have [le_ux le_uy] : (u <= x)%N /\ (u <= y)%N by rewrite geq_minl geq_minr.
have -> : geometric (x - z) * geometric (y - z) = (1 - p) ^+ 2 * p ^+ (x - z + (y - z)).
  by rewrite /geometric exprD; ring_in R.
rewrite [RHS]mulrA -[X in _ = X * _]mulrA -exprD; congr (_ * p ^+ _ * _).
have split w : (u <= w)%N -> (w - z = w - u + (u - z))%N.
  by move=> le_uw; rewrite addnBA // subnK.
rewrite (split x) // (split y) // addnACA addnn -mul2n; congr (_ + _)%N.
by rewrite addnBA // addnBAC // -subnDA addnn -mul2n.
Qed.

Lemma bucket_inside x y :
  (x <= y)%N -> bucket x y = (1 - p) ^+ 2 * p ^+ (y - x) * flood x.
Proof.
by move=> le; rewrite bucket_closed_form (minn_idPl le) mul2n -addnn subnDl.
Qed.

Lemma bucket_outside x y :
  (y <= x)%N -> bucket x y = (1 - p) ^+ 2 * p ^+ (x - y) * flood y.
Proof.
by move=> le; rewrite bucket_closed_form (minn_idPr le) mul2n -addnn subnDr.
Qed.

Lemma bucket_more_inside x y :
  (x <= y)%N -> bucket_more x y = (1 - p) ^+ 2 * p ^+ (y - x) * (p * shifted flood x).
Proof.
case: x => [|x] lt; rewrite /bucket_more /= ?mulr0 //.
rewrite bucket_inside ?(ltnW lt) // -[in LHS](subnSK lt) (exprSr p); ring_in R.
Qed.

(** The ratio of the bucket with the message to that without it. *)
Theorem bucket_ratio x y :
  if (x <= y)%N then bucket_more x y * flood x = p * shifted flood x * bucket x y
  else p * bucket_more x y = bucket x y.
Proof.
case: leqP => [le|lt]; first by rewrite bucket_more_inside // bucket_inside //; ring_in R.
case: x lt => // x lt; rewrite /bucket_more /= !bucket_outside //; last exact: ltnW.
by rewrite subSn // (exprS p); ring_in R.
Qed.

Lemma geometric_sum k : (1 - p) * (\sum_(j < k) p ^+ j) = 1 - p ^+ k.
Proof.
elim: k => [|k IH]; first by rewrite big_ord0 mulr0 subrr.
by rewrite big_ord_recr /= mulrDr IH (exprS p); ring_in R.
Qed.

Lemma scaled_sum (k : nat) (c : R) :
  \sum_(j < k) (1 - p) ^+ 2 * p ^+ j * c = (1 - p) * (1 - p ^+ k) * c.
Proof.
rewrite -mulr_suml -mulr_sumr -geometric_sum expr2.
by rewrite -!mulrA.
Qed.

(** Masses of the outcomes with x at most y, and of those above. *)
Theorem bucket_masses u k :
  [/\ \sum_(j < k) bucket u (u + j) = (1 - p) * (1 - p ^+ k) * flood u,
      \sum_(j < k) bucket_more u (u + j) = (1 - p) * (1 - p ^+ k) * (p * shifted flood u),
      \sum_(j < k) bucket (u + j).+1 u = (1 - p) * (1 - p ^+ k) * (p * flood u)
    & \sum_(j < k) bucket_more (u + j).+1 u = (1 - p) * (1 - p ^+ k) * flood u].
Proof.
split; rewrite -scaled_sum; apply: eq_bigr => j _.
- by rewrite bucket_inside ?leq_addr // addKn.
- by rewrite bucket_more_inside ?leq_addr // addKn.
- rewrite bucket_outside; last by rewrite leqW ?leq_addr.
  by rewrite subSn ?leq_addr // addKn (exprS p); ring_in R.
- by rewrite /bucket_more /= bucket_outside ?leq_addr // addKn.
Qed.

Theorem flood_mass m :
  (1 - p ^+ 2) * (\sum_(u < m.+1) flood u) + p ^+ 2 * flood m = \sum_(z < m.+1) zeta z.
Proof.
elim: m => [|m IH]; first by rewrite !big_ord1 /= mulrBl mul1r subrK.
rewrite [RHS]big_ord_recr -IH [in LHS]big_ord_recr /= mulrDr.
set q := p ^+ 2; set S := \sum_(u < m.+1) flood u; ring_in R.
Qed.

Hypotheses (p01 : 0 <= p <= 1) (zeta0 : forall z, 0 <= zeta z).

Lemma p_ge0 : 0 <= p. Proof. by case/andP: p01. Qed.

Lemma flood_ge0 u : 0 <= flood u.
Proof. by rewrite flood_sum sumr_ge0 // => z _; rewrite mulr_ge0 ?exprn_ge0 ?p_ge0. Qed.

(** Ratios are at most 1 / p, *)
Lemma flood_step u : p ^+ 2 * shifted flood u <= flood u.
Proof. by case: u => [|u] /=; rewrite ?mulr0 // ler_addl. Qed.

(** and rise if the law of the pairs is log-concave. *)
Theorem flood_concave : log_concave zeta -> log_concave flood.
Proof.
move=> concave.
have far a b s : (a <= b)%N -> zeta a * zeta (b + s) <= zeta (a + s) * zeta b.
  elim: s a b => [|s IH] a b le; first by rewrite !addn0.
  have [->|ne] := eqVneq a b; first by rewrite mulrC.
  apply: (@le_trans _ _ (zeta a.+1 * zeta (b + s))).
    by rewrite addnS concave // (leq_trans le) ?leq_addr.
  by rewrite addnS -addSn IH // ltn_neqAle ne.
move=> i j le_ij; rewrite /= mulrDr mulrDl mulrCA -[p ^+ 2 * flood i * _]mulrA ler_add2l.
have reversed u : flood u = \sum_(k < u.+1) p ^+ (2 * k) * zeta (u - k).
  rewrite flood_sum (reindex_inj rev_ord_inj); apply: eq_bigr => k _ /=.
  by rewrite subSS subKn // -ltnS.
rewrite !reversed mulr_suml mulr_sumr.
rewrite (big_ord_widen j.+1 (fun k => p ^+ (2 * k) * zeta (i - k) * zeta j.+1)) //.
rewrite big_mkcond; apply: ler_sum => k _; rewrite mulrCA.
have pk : 0 <= p ^+ (2 * k) by rewrite exprn_ge0 ?p_ge0.
case: ifP => [lt_k|_]; last by rewrite !mulr_ge0.
rewrite -mulrA ler_wpmul2l // [leRHS]mulrC.
have := far (i - k)%N i.+1 (j - i)%N (leq_trans (leq_subr _ _) (leqnSn _)).
by rewrite addSn subnKC // addnBAC ?subnKC.
Qed.

Lemma bucket_ge0 x y : 0 <= bucket x y.
Proof.
have q0 : 0 <= 1 - p by rewrite subr_ge0; case/andP: p01.
by rewrite bucket_closed_form !mulr_ge0 ?exprn_ge0 ?flood_ge0 ?p_ge0.
Qed.

(** What matters of an outcome: x if it is at most y, and nothing otherwise. *)
Definition cell N (y : 'I_N * 'I_N) : option 'I_N :=
  if (y.1 <= y.2)%N then Some y.1 else None.

Definition without_message N (y : 'I_N * 'I_N) : R := bucket y.1 y.2.

(** A message "+" more with probability [r]. *)
Definition with_message (r : R) N (y : 'I_N * 'I_N) : R :=
  r * bucket_more y.1 y.2 + (1 - r) * bucket y.1 y.2.

Theorem one_dimension (r e : R) N :
  hs e (merged (@cell N) (with_message r (N := N))) (merged (@cell N) (@without_message N))
    = hs e (with_message r (N := N)) (@without_message N).
Proof.
pose c (o : option 'I_N) :=
  if o is Some x then r * (p * shifted flood x) + (1 - r) * flood x else r + (1 - r) * p.
pose d (o : option 'I_N) := if o is Some x then flood x else p.
pose w (y : 'I_N * 'I_N) :=
  if (y.1 <= y.2)%N then (1 - p) ^+ 2 * p ^+ (y.2 - y.1) else bucket_more y.1 y.2.
apply: (merge_same_ratio _ (c := c) (d := d) (w := w)) => -[x y] /=;
  rewrite /w /c /d /cell /with_message /without_message /=; case: leqP => [le|lt] /=.
- by rewrite mulr_ge0 ?exprn_ge0 ?p_ge0 // subr_ge0; case/andP: p01.
- by rewrite /bucket_more; case: (nat_of_ord x) => //= k; apply: bucket_ge0.
- rewrite bucket_more_inside // bucket_inside //; ring_in R.
- have := bucket_ratio x y; rewrite leqNgt lt /= => <-; ring_in R.
- rewrite bucket_inside //; ring_in R.
- by have := bucket_ratio x y; rewrite leqNgt lt /= => <-.
Qed.

End Geometric.

(** Other noise, up to the factor that makes the total 1 and cancels in every ratio. *)
Section OtherNoise.
Variable R : realFieldType.
Add Ring R_ring : (field_ring R).
Implicit Types (a b m p : R) (x c : nat).

Definition poisson m x : R := m ^+ x / x`!%:R.

Theorem poisson_ratio m x : shifted (poisson m) x * m = x%:R * poisson m x.
Proof.
case: x => [|x] /=; first by rewrite !mul0r.
have ne0 : x.+1%:R != 0 :> R by rewrite pnatr_eq0.
by rewrite /poisson factS natrM invfM exprSr [RHS]mulrCA mulVKf // mulrAC.
Qed.

(** Panjer's class: of Poisson laws ([b] = 0), and of negative binomial ones of the shape
    [a / b]. *)
Fixpoint panjer a b x : R :=
  if x is y.+1 then (a + b * y%:R) / y.+1%:R * panjer a b y else 1.

Lemma panjer_step a b x : x.+1%:R * panjer a b x.+1 = (a + b * x%:R) * panjer a b x.
Proof.
by rewrite /= mulrCA mulrA divfK ?pnatr_eq0.
Qed.

Lemma panjer_poisson m x : panjer m 0 x = poisson m x.
Proof.
elim: x => [|x IH]; first by rewrite /poisson expr0 fact0 divr1.
have ne0 : x.+1%:R != 0 :> R by rewrite pnatr_eq0.
by apply: (mulfI ne0); rewrite panjer_step mul0r addr0 IH -poisson_ratio mulrC.
Qed.

Lemma panjer_geometric p x : panjer p p x = p ^+ x.
Proof.
elim: x => [|x IH]; first by rewrite expr0.
have ne0 : x.+1%:R != 0 :> R by rewrite pnatr_eq0.
apply: (mulfI ne0); rewrite panjer_step IH exprS mulrSr; ring_in R.
Qed.

Theorem panjer_concave a b : 0 <= b -> b <= a -> log_concave (panjer a b).
Proof.
move=> b0 le_ba i j le_ij; have num_ge0 k : 0 <= a + b * k%:R.
  by apply: addr_ge0; [exact: le_trans le_ba | rewrite mulr_ge0 ?ler0n].
have ge0 k : 0 <= panjer a b k.
  elim: k => [|k IH] /=; first exact: ler01.
  by apply: mulr_ge0 => //; apply: divr_ge0; rewrite ?ler0n.
rewrite /= mulrCA -[leRHS]mulrA ler_wpmul2r ?mulr_ge0 //.
rewrite ler_pdivr_mulr ?ltr0n // mulrAC ler_pdivl_mulr ?ltr0n // -subr_ge0 !mulrSr.
have -> : (a + b * i%:R) * (j%:R + 1) - (a + b * j%:R) * (i%:R + 1)
          = (a - b) * (j%:R - i%:R) :> R by ring_in R.
by rewrite mulr_ge0 ?subr_ge0 ?ler_nat.
Qed.

Lemma poisson_concave m : 0 <= m -> log_concave (poisson m).
Proof.
move=> m0 i j le_ij; rewrite -!panjer_poisson.
exact: (panjer_concave (lexx 0) m0 le_ij).
Qed.

Local Arguments panjer : simpl never.

(** The law of the sum of two independent numbers. *)
Definition convolution (f g : nat -> R) x : R := \sum_(k < x.+1) f k * g (x - k)%N.

(** What people draw adds up to the noise. *)
Theorem panjer_parts a a' b x :
  convolution (panjer a b) (panjer a' b) x = panjer (a + a') b x.
Proof.
elim: x => [|x IH]; first by rewrite /convolution big_ord1 mulr1.
have ne0 : x.+1%:R != 0 :> R by rewrite pnatr_eq0.
apply: (mulfI ne0); rewrite panjer_step -IH /convolution mulr_sumr.
transitivity (\sum_(k < x.+2) (k%:R * panjer a b k * panjer a' b (x.+1 - k)
                + panjer a b k * ((x.+1 - k)%N%:R * panjer a' b (x.+1 - k)))).
  apply: eq_bigr => k _; have le_k : (k <= x.+1)%N by rewrite -ltnS.
  rewrite -{1}(subnKC le_k) natrD; ring_in R.
rewrite big_split [X in X + _ = _]big_ord_recl [X in _ + X = _]big_ord_recr /= subnn
        !mul0r !mulr0 add0r addr0.
rewrite -big_split mulr_sumr; apply: eq_bigr => k _.
have le_k : (k <= x)%N by rewrite -ltnS.
rewrite /bump /= add1n subSS subSn // !panjer_step.
have -> : x%:R = k%:R + (x - k)%N%:R :> R by rewrite -natrD subnKC.
ring_in R.
Qed.

(** Dummies of the shuffler: [c] in the mean, and at most 2 [c]. *)
Definition dummies p c x : R := p ^+ (maxn x c - minn x c).

Theorem dummies_ratio p c x :
  if (x < c)%N then dummies p c x = p * dummies p c x.+1
  else p * dummies p c x = dummies p c x.+1.
Proof.
rewrite /dummies; case: ltnP => le.
  by rewrite (maxn_idPr le) (minn_idPl le) -exprS subnSK.
have le1 : (c <= x.+1)%N by apply: leqW.
by rewrite (maxn_idPl le1) (minn_idPr le1) subSn // exprS.
Qed.

End OtherNoise.
