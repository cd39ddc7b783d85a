"""What is put to a model, in words: one file for each question, beside the type it must be answered with."""
