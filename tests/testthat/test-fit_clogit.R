choices <- function(n = 60) {
  skip_if_not_installed("survival")
  withr::with_seed(3, {
    rows <- expand.grid(position = 1:2, task = 1:4, respondent = seq_len(n))
    rows$group <- sample(c("a", "b"), nrow(rows), TRUE)
    rows$job <- sample(c("clerk", "cook", "nurse"), nrow(rows), TRUE)
    liking <- (rows$group == "b") + .5 * (rows$job == "nurse") - log(-log(runif(nrow(rows))))
    rows$chosen <- as.integer(ave(liking, rows$respondent, rows$task, FUN = max) == liking)
    rows
  })
}
lists <- list(group = c("a", "b"), job = c("clerk", "cook", "nurse"))
fit_of <- function(rows, ...) fit_clogit(rows, "chosen ~ group + job", levels = lists, ...)

test_that("choices within sets are survival's conditional logit", {
  rows <- choices()
  fit <- fit_of(rows, cluster = "respondent")
  rows$set <- interaction(rows$respondent, rows$task)
  strata <- survival::strata
  direct <- survival::coxph(
    survival::Surv(rep(1, 480), chosen) ~ group + job + strata(set),
    data = rows, cluster = respondent, method = "efron"
  )
  expect_equal(fit$estimates$estimate, unname(coef(direct)))
  expect_equal(fit$tables$clustered$std_error_rows, unname(sqrt(diag(direct$naive.var))))
  expect_equal(fit$tables$clustered$std_error, unname(sqrt(diag(vcov(direct)))), tolerance = 1e-6)
  expect_equal(c(fit$fits$n_groups, fit$fits$log_lik), c(240, direct$loglik[[2]]))
  expect_equal(unique(fit$tables$clustered$method), "robust")
})

test_that("each term has its likelihood ratio test", {
  rows <- choices()
  tests <- fit_of(rows)$tables$tests
  without <- fit_clogit(rows, "chosen ~ group", levels = lists["group"])
  expect_equal(tests$term, c("all", "group", "job"))
  expect_equal(tests$chi_squared[[3]], 2 * (fit_of(rows)$fits$log_lik - without$fits$log_lik), tolerance = 1e-6)
})

test_that("sets of one row and sets without a choice are counted, and change nothing", {
  rows <- choices()
  alone <- transform(rows[1, ], task = 99)
  empty <- transform(rows[1:2, ], task = 98, chosen = 0L)
  fit <- fit_of(rbind(rows, alone, empty))
  expect_equal(fit$estimates, fit_of(rows)$estimates)
  expect_match(fit$messages$text, "1 set has one row", all = FALSE)
  expect_match(fit$messages$text, "In 1 set nothing was chosen", all = FALSE)
})

test_that("columns that do not tell sets apart, and what is the same in each set, are sentences", {
  rows <- choices()
  expect_match(fit_of(rows, sets = "task")$fits$error, "4 sets have more than one choice")
  expect_error(fit_of(rows[setdiff(names(rows), c("respondent", "task"))]), "nothing says which profiles were shown")
  rows$sex <- ifelse(rows$respondent %% 2 == 0, "f", "m")
  fit <- fit_clogit(rows, "chosen ~ group + sex", levels = c(lists["group"], list(sex = c("f", "m"))))
  expect_match(fit$fits$error, "\"sexm\" does not vary apart from the others")
})

test_in_full("the published choices come to the numbers that were kept", {
  skip_if_not_installed("survival")
  data <- immigration()
  formula <- paste("chosen ~", paste(data$attributes, collapse = " + "))
  fit <- fit_clogit(data$profiles, formula, levels = data$levels, cluster = "person", sets = c("person", "task"))
  expect_equal(round(fit$fits$log_lik, 4), -3896.8046)
  expect_equal(fit$fits$n_groups, 7009L)
  expect_equal(round(fit$tables$tests$null_log_lik[[1]], 4), -4858.2686)
  interpreter <- fit$tables$clustered[grepl("interpreter", fit$tables$clustered$term), ]
  expect_equal(round(c(interpreter$estimate, interpreter$std_error), 4), c(-.8356, .0601))
})
