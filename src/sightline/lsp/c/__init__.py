"""C and C++ projects: compilation databases, flags that do no harm, includes, conditions."""
