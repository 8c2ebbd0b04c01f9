# Views of trials and tables of results call their columns test, condition and group. A paper may have its words for
# them (domain, block, category), which its formulas are printed with: views have both, and a formula may use either.

paper_words <- c(test = "domain", condition = "block", group = "category")

# The name of each of these columns of ours among `names`: our own, or else the paper's.
words_for <- function(columns, names) {
  theirs <- unname(paper_words[columns])
  ifelse(!columns %in% names & theirs %in% names, theirs, columns)
}

# Our own names of columns that may have a paper's.
our_words <- function(columns) {
  ours <- names(paper_words)[match(columns, paper_words)]
  ifelse(is.na(ours), columns, ours)
}

# A table of results, or a list of them, with its tests and conditions under our own names.
with_our_words <- function(tables) {
  if (!is.data.frame(tables)) {
    return(lapply(tables, with_our_words))
  }
  is_theirs <- names(tables) %in% paper_words[c("test", "condition")] & !our_words(names(tables)) %in% names(tables)
  names(tables)[is_theirs] <- our_words(names(tables)[is_theirs])
  tables
}
