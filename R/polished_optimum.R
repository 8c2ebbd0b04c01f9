# The optimum of a mixed model, the same wherever in memory its rows lie.
#
# lme4's sums differ in their last bits with the alignment of memory, from one process of R to the next, and its
# optimisers stop where the criterion is flat to their tolerance: theta then differs in the ninth digit (with lme4's own
# settings in the fourth of a small one), and degrees of freedom in the seventh. The root of the gradient is sharp where
# the criterion is flat. So a few Newton steps are made from where nloptwrap stops: theta then agrees to 1e-11.

# An optimiser as lme4::lmerControl() takes it. What lmer() returns keeps this function, and with it all of slant:
# refittable() takes it out again, before the model is saved.
polished_nloptwrap <- function(fn, par, lower, upper, control = list(), ...) {
  found <- lme4::nloptwrap(fn = fn, par = par, lower = lower, upper = upper, control = control)
  found$par <- polished_optimum(fn, found$par, lower)
  found$fval <- fn(found$par) # lme4 takes the rest of the model from where `fn` was evaluated last
  found
}

polished_control <- function(...) lme4::lmerControl(optimizer = polished_nloptwrap, ...)

optimiser_of <- function(model) {
  if (is.function(model@optinfo$optimizer)) "nloptwrap, polished" else as.character(model@optinfo$optimizer)
}

# A mixed model that R's own functions can fit again (update(), profiles, simulations): by an optimiser that lme4 knows,
# with its rows where its formula is looked up.
refittable <- function(model, data) {
  formula <- stats::formula(model)
  environment(formula) <- list2env(list(data = data), parent = environment(formula))
  attr(model@frame, "formula") <- formula
  model@call[c("formula", "data")] <- list(formula, quote(data))
  model@call$control <- NULL
  if (lme4::isGLMM(model)) model@call$nAGQ <- model@devcomp$dims[["nAGQ"]] else model@optinfo$optimizer <- "nloptwrap"
  model
}

# Standard deviations that lme4 takes for 0 become 0, if the criterion is as good there; the others take Newton steps
# until these are below `tolerance`. What does not converge, or ends higher, stays as it was found.
polished_optimum <- function(fn, par, lower, tolerance = 1e-9, max_steps = 10) {
  is_bound <- lower == 0 & par < singular_below
  if (any(is_bound) && fn(replace(par, is_bound, 0)) <= fn(par) + criterion_noise) par[is_bound] <- 0
  if (all(is_bound)) {
    return(par)
  }
  of_free <- function(x) fn(replace(par, !is_bound, x))
  start <- x <- par[!is_bound]
  step <- .02 * pmax(abs(start), .05)
  root <- tryCatch(chol(second_derivatives(of_free, start, step)), error = function(condition) NULL)
  for (i in seq_len(if (is.null(root)) 0 else max_steps)) {
    move <- backsolve(root, backsolve(root, first_derivatives(of_free, x, step), transpose = TRUE))
    x <- x - move
    if (!all(abs(x - start) < pmax(abs(start), .05))) break
    if (max(abs(move)) < tolerance) {
      is_better <- of_free(x) <= of_free(start) + criterion_noise
      return(if (is_better) replace(par, !is_bound, x) else par)
    }
  }
  par
}

# What the criterion, -2 log-likelihood, may differ by between two places that are equally good.
criterion_noise <- 1e-8

# Central differences of the fourth order.
first_derivatives <- function(fn, x, step) {
  vapply(seq_along(x), function(i) {
    at <- function(n) fn(replace(x, i, x[[i]] + n * step[[i]]))
    (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * step[[i]])
  }, 1)
}

second_derivatives <- function(fn, x, step) {
  rows <- vapply(seq_along(x), function(i) {
    at <- function(n) first_derivatives(fn, replace(x, i, x[[i]] + n * step[[i]]), step)
    (at(1) - at(-1)) / (2 * step[[i]])
  }, x)
  rows <- matrix(rows, length(x))
  (rows + t(rows)) / 2
}
