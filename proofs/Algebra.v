(** Coq's tactic [ring] for mathcomp's fields. In a section with a variable [R]:
    [Add Ring R_ring : (field_ring R).], then [ring_in R.] *)
From mathcomp Require Import all_ssreflect all_algebra.
From Coq Require Import Ring.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Operations.
Variable R : realFieldType.
Implicit Types x y : R.

Definition add_of x y : R := x + y.
Definition mul_of x y : R := x * y.
Definition opp_of x : R := - x.
Definition sub_of x y : R := x - y.
Definition zero_of : R := 0.
Definition one_of : R := 1.

Lemma field_ring : ring_theory zero_of one_of add_of mul_of sub_of opp_of eq.
Proof.
split; rewrite /add_of /mul_of /opp_of /sub_of /zero_of /one_of.
- exact: add0r.
- exact: addrC.
- exact: addrA.
- exact: mul1r.
- exact: mulrC.
- exact: mulrA.
- exact: mulrDl.
- by [].
- exact: subrr.
Qed.

End Operations.

(** Names the operations as [field_ring] does, so that [ring] recognizes them. *)
Ltac name_operations R :=
  repeat match goal with
  | |- context [@GRing.add ?V ?x ?y] =>
      progress change (@GRing.add V x y) with (@add_of R x y)
  | |- context [@GRing.opp ?V ?x] =>
      progress change (@GRing.opp V x) with (@opp_of R x)
  | |- context [@GRing.mul ?V ?x ?y] =>
      progress change (@GRing.mul V x y) with (@mul_of R x y)
  | |- context [GRing.zero ?V] =>
      progress change (GRing.zero V) with (@zero_of R)
  | |- context [GRing.one ?V] =>
      progress change (GRing.one V) with (@one_of R)
  end.

Ltac ring_in R :=
  rewrite ?expr2;
  match goal with |- @eq _ ?x ?y => change (@eq (Num.RealField.sort R) x y) end;
  name_operations R; ring.
