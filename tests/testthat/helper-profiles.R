# Ratings and hires of profiles by two attributes, of two models; the same each time.
drawn_profiles <- function() {
  withr::with_seed(2, {
    rows <- expand.grid(person = 1:100, place = 1:4)
    n <- nrow(rows)
    rows$group <- sample(c("women", "men"), n, TRUE)
    rows$job <- sample(c("clerk", "nurse", "surgeon"), n, TRUE)
    rows$model <- rep(c("one", "two"), length.out = n)
    worth <- 4 + .6 * (rows$group == "women") + .5 * (rows$job == "nurse" & rows$model == "one")
    rows$rating <- pmin(7, pmax(1, round(worth + stats::rnorm(n, 0, 1.3))))
    rows$hired <- as.integer(rows$rating > 4)
    rows
  })
}
