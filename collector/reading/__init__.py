"""Read one answer to one question: a point of a scale, one of several alternatives, a number, a text.

Nothing here depends on studies. An answer is never guessed: one that names two values, or a value that the question
does not offer, is malformed; nothing is rounded, and nothing is the middle of a scale that does not say so.
"""
