"""`audited`: a judge that audits reasoning, and debaters that adapt."""
