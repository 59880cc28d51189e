"""Several questions, answered by one report and covered by one certificate."""
