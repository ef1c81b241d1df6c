"""How good the ranking is: lexical, dense and fused search on code bases that no model saw."""
