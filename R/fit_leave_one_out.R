#' A mixed model without each prompt in turn
#'
#' Fits the model to all rows, then again without the rows of one level of a grouping variable at a time (one wording
#' of the prompt, say), so that one can see what rests on a single one. `check_influence()` reads the result.
#'
#' Each model is fitted by `lme4::lmer()`, started from the estimates of the whole. For speed, Satterthwaite's degrees
#' of freedom are computed for the whole only, and shrink with the rows: `df * rows left / all rows`. (With one
#' condition crossed with the prompts they are close to the number of rows, and p hardly depends on them.)
#'
#' @inheritParams fit_lme4
#' @param group name of the grouping variable whose levels are left out; `NULL` takes the formula's first.
#' @return The same list of four data frames as [fit_lme4()]. `estimates` has the first coefficient after the intercept:
#'   term `"all"`, from all rows, then one row for each level left out, such as `"without 7"`. `fits` and `variances`
#'   are those of the model of all rows. What R said of the models with one left out is one message, with their number.
#' @noRd
fit_leave_one_out <- function(data, formula, by = NULL, levels = NULL, group = NULL, save_to = NULL) {
  need_package("lmerTest", "fit mixed models")
  maker <- model_maker(data, formula, levels)
  group <- if (is.null(group)) maker$grouping[[1]] else group
  check_columns(data, group)
  fit_one <- function(rows) {
    fit <- fit_mixed_model(maker$formula, maker$prepare(rows), "satterthwaite")
    grouping <- as.character(rows[[group]])
    numbers <- suppressWarnings(as.numeric(grouping)) # which sort as numbers: wording 10 comes after wording 9
    left_out <- as.character(sort(unique(if (anyNA(numbers)) grouping else numbers), method = "radix"))
    all_rows <- fit$estimates[2, ]
    all_rows$term <- "all"
    results <- lapply(left_out, function(level) {
      others <- rows[grouping != level, , drop = FALSE]
      with_conditions(function() {
        # The derivatives only serve warnings about convergence, and take longer than the fit.
        control <- polished_control(calc.derivs = FALSE)
        model <- maker$fit(others, start = lme4::getME(fit$model, "theta"), control = control)
        coefficient <- stats::coef(summary(model))[2, ]
        df <- all_rows$df * nrow(others) / nrow(rows)
        tested_rows("", coefficient[["Estimate"]], coefficient[["Std. Error"]], df)
      })
    })
    # once and with their number, what was said in several refits
    conditions <- do.call(rbind, lapply(results, function(result) unique(result$conditions)))
    for (text in unique(conditions$text)) {
      has_text <- conditions$text == text
      words <- sprintf("Without one, in %d of %s: %s", sum(has_text), counted(length(results), "fit"), text)
      if (all(conditions$kind[has_text] == "message")) message(words) else warning(words, call. = FALSE)
    }
    estimates <- lapply(seq_along(results), function(i) {
      row <- if (is.null(results[[i]]$value)) all_rows[NA_integer_, ] else results[[i]]$value
      row$term <- paste("without", left_out[[i]])
      row
    })
    fit$estimates <- do.call(rbind, c(list(all_rows), estimates))
    fit
  }
  slant_fit(fit_each_group(data, by, unique(c(maker$columns, group)), fit_one, save_to), c("lme4", "lmerTest"))
}
