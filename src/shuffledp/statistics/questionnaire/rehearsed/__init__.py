"""Rehearsals of questions on known answers: a file for each kind of question."""
