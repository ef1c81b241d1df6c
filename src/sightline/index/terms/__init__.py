"""From text to what is looked up: words, stems, trigrams."""
