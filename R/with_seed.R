# Runs `expression` with this seed and generator, whatever the session's are, and gives the session its own back.
with_seed <- function(seed, expression) {
  kinds <- RNGkind()
  before <- get0(".Random.seed", envir = globalenv(), inherits = FALSE)
  on.exit({
    do.call(RNGkind, as.list(kinds))
    if (is.null(before)) {
      rm(".Random.seed", envir = globalenv())
    } else {
      assign(".Random.seed", before, globalenv()) # nolint: object_name_linter.
    }
  })
  set.seed(seed, kind = "Mersenne-Twister", normal.kind = "Inversion", sample.kind = "Rejection")
  expression
}
